"""Look after teams and their spaces from a terminal: list, create, member, delete."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Count

from chat.models import Conversation, Membership, Space, SpaceKind, SpaceRole, User
from chat.operations.table import table
from chat.people.deletion import delete_team, team_holdings
from chat.people.teams import MEANINGS, TeamRefused, create_team, end_part, give_part

COLUMNS = ("slug", "kind", "name", "members", "conversations", "made")


class Command(BaseCommand):
    """Say which spaces there are, make teams, say who belongs to them, and delete them."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Name what can be done."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        listing = actions.add_parser("list", help="every space, with who belongs to it")
        listing.add_argument("--kind", choices=SpaceKind.values)
        listing.add_argument("--json", action="store_true", help="one object a line")
        create = actions.add_parser("create", help="make a team")
        create.add_argument("name", help="what the team is called")
        create.add_argument("--slug", default="", help="its name in addresses and commands")
        _add_member_arguments(actions.add_parser("member", help="say who belongs to a team"))
        delete = actions.add_parser("delete", help="delete a team with all that is in its space")
        delete.add_argument("slug", help="the slug of the team")
        delete.add_argument("--yes", action="store_true", help="do not ask whether it is meant")

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        """Do what is asked for."""
        try:
            getattr(self, f"_{action}")(options)
        except TeamRefused as error:
            raise CommandError(str(error)) from error

    def _list(self, options: dict[str, Any]) -> None:
        counts = Conversation.objects.order_by().values_list("space").annotate(count=Count("pk"))
        conversations = dict(counts)
        spaces = Space.objects.prefetch_related("memberships__user")
        if options["kind"]:
            spaces = spaces.filter(kind=options["kind"])
        rows = [_row(space, conversations.get(space.pk, 0)) for space in spaces]
        for line in map(json.dumps, rows) if options["json"] else table(COLUMNS, rows):
            self.stdout.write(line)

    def _create(self, options: dict[str, Any]) -> None:
        team = create_team(options["name"], options["slug"])
        self.stdout.write(f"Made the team {team}, called {team.slug} in commands.")

    def _member(self, options: dict[str, Any]) -> None:
        team, user = _team(options["slug"]), _person(options["name"])
        if options["change"] == "remove":
            end_part(team, user)
            self.stdout.write(f"{user} does not belong to {team} any more.")
            return
        belongs = Membership.objects.filter(space=team, user=user).exists()
        if options["change"] == "add" and belongs:
            raise CommandError(f"{user} belongs to {team} already; `member role` gives a role.")
        if options["change"] == "role" and not belongs:
            raise CommandError(f"{user} does not belong to {team}; `member add` lets them in.")
        role = SpaceRole(options["role"])
        give_part(team, user, role)
        self.stdout.write(f"{user} is {role} of {team}: {MEANINGS[role]}.")

    def _delete(self, options: dict[str, Any]) -> None:
        team = _team(options["slug"])
        told = team_holdings(team)
        if not options["yes"]:
            self.stdout.write(f"This deletes {team} with {told} for good.")
            if input("Type the slug again to go on: ") != team.slug:
                raise CommandError("Nothing was deleted.")
        delete_team(team)
        self.stdout.write(f"Deleted {team} with {told}.")


def _add_member_arguments(parser: CommandParser) -> None:
    changes = parser.add_subparsers(dest="change", required=True, metavar="CHANGE")
    meanings = "; ".join(f"{role}: {meaning}" for role, meaning in MEANINGS.items())
    add = changes.add_parser("add", help="let somebody belong to a team")
    role = changes.add_parser("role", help="give who belongs to a team another role")
    remove = changes.add_parser("remove", help="let somebody belong to it no more")
    for one in (add, role, remove):
        one.add_argument("slug", help="the slug of the team")
        one.add_argument("name", help="the name that they sign in with")
    add.add_argument("role", choices=SpaceRole.values, nargs="?", default="member", help=meanings)
    role.add_argument("role", choices=SpaceRole.values, help=meanings)


def _row(space: Space, conversations: int) -> dict[str, Any]:
    parts = sorted(f"{part.user}: {part.role}" for part in space.memberships.all())
    return {
        "slug": space.slug,
        "kind": space.kind,
        "name": space.name,
        "members": ", ".join(parts),
        "conversations": conversations,
        "made": space.created_at.date().isoformat(),
    }


def _team(slug: str) -> Space:
    team = Space.objects.filter(slug=slug, kind=SpaceKind.TEAM).first()
    if team is None:
        raise CommandError(f"There is no team {slug!r}. `spaces list --kind team` names all.")
    return team


def _person(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is nobody named {name}. `people list` names everybody.")
    return user
