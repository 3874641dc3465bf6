"""A person's conversations as the list shows them: a page at a time, grouped by age."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from django.db.models import Exists, OuterRef
from django.utils import timezone

from chat.governance import door
from chat.models import LIVE, Conversation, Run, RunStatus, User

PAGE_LENGTH = 60


@dataclass(frozen=True)
class Group:
    """Conversations under one heading."""

    age: str
    conversations: Sequence[Conversation]


@dataclass(frozen=True)
class ConversationPage:
    """One page of the list; `older` is the number of the next one, None at the end."""

    number: int
    groups: Sequence[Group]
    older: int | None


def page_of(user: User, number: int = 1) -> ConversationPage:
    """Return page `number`, from 1, of the person's conversations, newest first.

    Each conversation carries `is_live`: whether a run of it has not ended, and `is_waiting`:
    whether one waits for the person.
    """
    live = Run.objects.filter(conversation=OuterRef("pk"), status__in=LIVE)
    waiting = Run.objects.filter(conversation=OuterRef("pk"), status=RunStatus.WAITING)
    start = (number - 1) * PAGE_LENGTH
    rows = list(
        door.own_chats(user).annotate(is_live=Exists(live), is_waiting=Exists(waiting))[
            start : start + PAGE_LENGTH + 1
        ]
    )
    older = number + 1 if len(rows) > PAGE_LENGTH else None
    return ConversationPage(
        number, groups=_grouped(rows[:PAGE_LENGTH], timezone.localdate()), older=older
    )


def age_in_words(day: date, today: date) -> str:
    """Return the heading that a conversation last touched on `day` stands under."""
    days = (today - day).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    if days <= 7:
        return "Previous 7 days"
    return f"{day:%B}" if day.year == today.year else f"{day:%B %Y}"


def _grouped(conversations: Sequence[Conversation], today: date) -> list[Group]:
    def age(conversation: Conversation) -> str:
        return age_in_words(timezone.localdate(conversation.updated_at), today)

    return [Group(heading, list(group)) for heading, group in groupby(conversations, age)]
