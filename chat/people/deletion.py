"""The end of a person: all that is theirs goes, after what is being written into it."""

import logging
from typing import NamedTuple

from django.db import transaction

from chat.governance import door
from chat.models import Turn, User
from chat.people.roles import keep_an_administrator
from chat.runs.stop import BY_AN_ADMINISTRATOR, stop

logger = logging.getLogger(__name__)


class Holdings(NamedTuple):
    """How much of the record is a person's."""

    conversations: int
    runs: int
    turns: int

    def __str__(self) -> str:
        return f"{self.conversations:,} conversations, {self.runs:,} runs and {self.turns:,} turns"


def holdings(user: User) -> Holdings:
    """Count what is a person's."""
    return Holdings(
        door.own_conversations(user).count(),
        door.own_runs(user).count(),
        Turn.objects.filter(run__owner=user).count(),
    )


def delete_person(user: User) -> Holdings:
    """Delete a person with their conversations, runs, turns and requests; return how many.

    Nothing can be asked in their name from the first moment on (`check_allowance` looks), and runs
    under way are stopped. One conversation goes after the other, so that nothing is held for long;
    broken off half-way, the person cannot sign in any more, and a second try goes on. What they
    decided or made for others (approvals, versions of policies) stays without their name. Raises
    LastAdministrator.
    """
    with transaction.atomic():
        keep_an_administrator([user])
        User.objects.filter(pk=user.pk).update(is_active=False)
    deleted = holdings(user)
    for run in door.own_runs(user).live():
        stop(run, BY_AN_ADMINISTRATOR)
    while (conversation := door.own_conversations(user).first()) is not None:
        conversation.delete()
    number = user.pk
    user.delete()
    logger.info("Deleted person %s with %d runs", number, deleted.runs)
    return deleted
