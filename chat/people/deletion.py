"""The end of a person or a team: all that is theirs goes, after what is being written into it."""

import logging
from typing import NamedTuple

from django.db import transaction

from chat.governance import door
from chat.models import Run, Space, SpaceKind, Turn, User
from chat.people.roles import keep_an_administrator
from chat.runs.stop import BY_AN_ADMINISTRATOR, stop

logger = logging.getLogger(__name__)


class Holdings(NamedTuple):
    """How much of the record is a person's or a team's."""

    conversations: int
    runs: int
    turns: int

    def __str__(self) -> str:
        return f"{self.conversations:,} conversations, {self.runs:,} runs and {self.turns:,} turns"


def holdings(user: User) -> Holdings:
    """Count what is a person's: all that they began, in their own space and in teams'."""
    return Holdings(
        door.begun_conversations(user).count(),
        door.asked_runs(user).count(),
        Turn.objects.filter(run__owner=user).count(),
    )


def delete_person(user: User) -> Holdings:
    """Delete a person with their conversations, runs, turns and requests; return how many.

    Nothing can be asked in their name from the first moment on (`check_allowance` looks), and runs
    under way are stopped. One conversation goes after the other, so that nothing is held for long;
    broken off half-way, the person cannot sign in any more, and a second try goes on. Their own
    space goes with them, and from teams' spaces what they began there. What they decided or made
    for others (approvals, versions of policies) stays without their name. Raises LastAdministrator.
    """
    with transaction.atomic():
        keep_an_administrator([user])
        User.objects.filter(pk=user.pk).update(is_active=False)
    deleted = holdings(user)
    for run in door.asked_runs(user).live():
        stop(run, BY_AN_ADMINISTRATOR)
    while (conversation := door.begun_conversations(user).first()) is not None:
        conversation.delete()
    number = user.pk
    user.delete()
    logger.info("Deleted person %s with %d runs", number, deleted.runs)
    return deleted


def team_holdings(team: Space) -> Holdings:
    """Count what is in a team's space."""
    runs = Run.objects.filter(conversation__space=team)
    turns = Turn.objects.filter(run__conversation__space=team)
    return Holdings(team.conversations.count(), runs.count(), turns.count())


def delete_team(team: Space) -> Holdings:
    """Delete a team's space with all that was begun in it, whoever began it; return how much.

    Nobody belongs to it from the first moment on, so nothing more is asked there, and runs under
    way are stopped. One conversation goes after the other, as with a person; broken off half-way, a
    second try goes on. Raises ValueError for a person's own space, which ends with the person.
    """
    if team.kind != SpaceKind.TEAM:
        raise ValueError(f"{team} is a person's own space.")
    team.memberships.all().delete()
    deleted = team_holdings(team)
    for run in Run.objects.live().filter(conversation__space=team):
        stop(run, BY_AN_ADMINISTRATOR)
    number = team.pk
    team.delete()
    logger.info("Deleted team %s with %d runs", number, deleted.runs)
    return deleted
