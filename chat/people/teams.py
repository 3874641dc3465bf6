"""Teams: who belongs to one, and what each role lets them do in its space."""

from django.core.exceptions import ValidationError
from django.utils.text import slugify

from chat.models import Membership, Space, SpaceRole, User

MEANINGS = {
    SpaceRole.MEMBER: "asks in the team's space and reads it",
    SpaceRole.REVIEWER: "reads the team's space and asks nothing there",
    SpaceRole.ANALYST: "as a member, and begins trials, imports and forks there",
    SpaceRole.ADMIN: "as an analyst; who looks after the team",
}


class TeamRefused(Exception):
    """Raised for what a team cannot be or have; the text says why."""


def create_team(name: str, slug: str = "") -> Space:
    """Make a team's space without members; its slug is the name's unless one is given.

    Raises TeamRefused.
    """
    team = Space(name=name.strip(), slug=slug or slugify(name).replace("_", "-").strip("-"))
    try:
        team.full_clean()
    except ValidationError as error:
        raise TeamRefused(" ".join(error.messages)) from error
    team.save()
    return team


def give_part(team: Space, user: User, role: SpaceRole) -> None:
    """Let somebody belong to a team in this role and no other."""
    Membership.objects.update_or_create(space=team, user=user, defaults={"role": role})


def end_part(team: Space, user: User) -> None:
    """Let somebody belong to a team no more; what they began stays. Raises TeamRefused."""
    part = Membership.objects.filter(space=team, user=user).first()
    if part is None:
        raise TeamRefused(f"{user} does not belong to {team}.")
    part.delete()
