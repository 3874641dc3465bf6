"""The door: who may read what, and whose it is. Every page, socket, download, search and tool asks.

A conversation is read by who has a part in its space: its own person, or whoever belongs to the
team; a reviewer of the whole installation reads everybody's. Only who began it writes in it
and answers for an approval, and that only while they have a part in the space; its agent searches
that space alone. What somebody may not read does not exist for them: the querysets leave it out, so
that a view answers 404 and tells nobody that there is something.
"""

from functools import reduce
from operator import or_

from django.db.models import BigIntegerField, Q, QuerySet, Value
from django.db.models.functions import Cast

from chat.models import (
    Approval,
    Conversation,
    ConversationKind,
    Lane,
    Membership,
    Run,
    SpaceRole,
    TurnDocument,
    User,
)
from chat.models.run import RunQuerySet

ASKING = {
    Lane.CHAT: (SpaceRole.MEMBER, SpaceRole.ANALYST, SpaceRole.ADMIN),
    Lane.BATCH: (SpaceRole.ANALYST, SpaceRole.ADMIN),
}
"""The roles by which somebody asks in a team's space; every role reads there."""


def reads_all(user: User) -> bool:
    """Tell whether somebody reads other people's transcripts, too, in every space."""
    return user.is_reviewer


def is_own(user: User, conversation: Conversation) -> bool:
    """Tell whether a conversation that the person may read is their own, to write in."""
    return conversation.owner_id == user.pk


def may_ask_in(user: User, conversation: Conversation) -> bool:
    """Tell whether the person may ask in the conversation's space, as its kind is asked."""
    if conversation.space_id == user.pk:
        return True
    is_chat = conversation.kind == ConversationKind.CHAT
    roles = ASKING[Lane.CHAT if is_chat else Lane.BATCH]
    parts = Membership.objects.filter(user=user, space_id=conversation.space_id)
    return parts.filter(role__in=roles).exists()


def begun_conversations(user: User) -> QuerySet[Conversation]:
    """Return what the person ever began, also where they have no part any more."""
    return Conversation.objects.filter(owner=user)


def own_conversations(user: User) -> QuerySet[Conversation]:
    """Return what the person began and may read."""
    return begun_conversations(user).filter(_in_spaces_of(user))


def own_chats(user: User) -> QuerySet[Conversation]:
    """Return those of the person's own conversations that they talk in."""
    return own_conversations(user).filter(kind=ConversationKind.CHAT)


def readable_conversations(user: User) -> QuerySet[Conversation]:
    """Return the conversations that the person may read."""
    found = Conversation.objects.all()
    return found if reads_all(user) else found.filter(_in_spaces_of(user))


def asked_runs(user: User) -> RunQuerySet:
    """Return what the person ever asked, also where they have no part any more."""
    return Run.objects.filter(owner=user)


def own_runs(user: User) -> RunQuerySet:
    """Return the runs of the person's own conversations."""
    return asked_runs(user).filter(_in_spaces_of(user))


def readable_runs(user: User) -> RunQuerySet:
    """Return the runs that the person may read."""
    return Run.objects.all() if reads_all(user) else Run.objects.filter(_in_spaces_of(user))


def own_approvals(user: User) -> QuerySet[Approval]:
    """Return the approvals that are the person's to answer."""
    return Approval.objects.filter(run__in=own_runs(user))


def space_documents(space_id: int) -> QuerySet[TurnDocument]:
    """Return what can be found of the turns in a space."""
    return TurnDocument.objects.filter(documents_of(space_id))


def readable_documents(user: User) -> QuerySet[TurnDocument]:
    """Return what can be found of the turns that the person may read."""
    if reads_all(user):
        return TurnDocument.objects.all()
    teams = Membership.objects.filter(user=user).order_by("space_id")
    spaces = [user.pk, *teams.values_list("space_id", flat=True)]
    return TurnDocument.objects.filter(reduce(or_, map(documents_of, spaces)))


def documents_of(space_id: int) -> Q:
    """Return the condition that a document is of this space's turns."""
    # psycopg writes small numbers as int4, which the GIN index over a bigint does not serve.
    return Q(space_id=Cast(Value(space_id), BigIntegerField()))


def _in_spaces_of(user: User) -> Q:
    teams = Membership.objects.filter(user=user).values("space_id")
    return Q(space_id=user.pk) | Q(space_id__in=teams)
