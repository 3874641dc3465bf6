"""The door: who may read what, and whose it is. Every page, socket, download, search and tool asks.

A person reads what is theirs; a reviewer reads everybody's. Only the owner writes, answers for an
approval, or is searched for by their own agent. What somebody may not read does not exist for them:
the querysets leave it out, so that a view answers 404 and tells nobody that there is something.
"""

from django.db.models import BigIntegerField, Q, QuerySet, Value
from django.db.models.functions import Cast

from chat.models import Approval, Conversation, ConversationKind, Run, TurnDocument, User
from chat.models.run import RunQuerySet


def reads_all(user: User) -> bool:
    """Tell whether somebody reads other people's transcripts, too."""
    return user.is_reviewer


def is_own(user: User, conversation: Conversation) -> bool:
    """Tell whether a conversation is the person's own, to write in."""
    return conversation.owner_id == user.pk


def own_conversations(user: User) -> QuerySet[Conversation]:
    """Return the person's own conversations."""
    return Conversation.objects.filter(owner=user)


def own_chats(user: User) -> QuerySet[Conversation]:
    """Return those of the person's own conversations that they talk in."""
    return own_conversations(user).filter(kind=ConversationKind.CHAT)


def readable_conversations(user: User) -> QuerySet[Conversation]:
    """Return the conversations that the person may read."""
    return Conversation.objects.all() if reads_all(user) else own_conversations(user)


def own_runs(user: User) -> RunQuerySet:
    """Return the runs of the person's own conversations."""
    return Run.objects.filter(owner=user)


def readable_runs(user: User) -> RunQuerySet:
    """Return the runs that the person may read."""
    return Run.objects.all() if reads_all(user) else own_runs(user)


def own_approvals(user: User) -> QuerySet[Approval]:
    """Return the approvals that are the person's to answer."""
    return Approval.objects.filter(run__owner=user)


def own_documents(user: User) -> QuerySet[TurnDocument]:
    """Return what can be found of the person's own turns."""
    return TurnDocument.objects.filter(documents_of(user.pk))


def readable_documents(user: User) -> QuerySet[TurnDocument]:
    """Return what can be found of the turns that the person may read."""
    return TurnDocument.objects.all() if reads_all(user) else own_documents(user)


def documents_of(space_id: int) -> Q:
    """Return the condition that a document is of this space; a person's own has their number."""
    # psycopg writes small numbers as int4, which the GIN index over a bigint does not serve.
    return Q(space_id=Cast(Value(space_id), BigIntegerField()))
