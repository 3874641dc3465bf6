"""Look after people from a terminal: list, role, export, delete."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Count

from chat.models import Conversation, Run, User
from chat.operations.table import table
from chat.people.deletion import delete_person, holdings
from chat.people.export import export_person
from chat.people.roles import MEANINGS, LastAdministrator, Role, give_role, role_of

COLUMNS = (
    *("name", "role", "teams", "active", "email", "joined", "last sign-in"),
    *("conversations", "runs"),
)


class Command(BaseCommand):
    """Say who is here, give roles, hand people what is theirs, and delete them with all of it."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the four things that can be done."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        listing = actions.add_parser("list", help="everybody, with their role and what is theirs")
        listing.add_argument("--role", choices=list(Role))
        listing.add_argument("--json", action="store_true", help="one object a line")
        meanings = "; ".join(f"{role}: {meaning}" for role, meaning in MEANINGS.items())
        role = actions.add_parser("role", help=f"give a person one role ({meanings})")
        export = actions.add_parser("export", help="write all that is a person's into a ZIP file")
        delete = actions.add_parser("delete", help="delete a person with all that is theirs")
        for one in (role, export, delete):
            one.add_argument("name", help="the name that they sign in with")
        role.add_argument("role", choices=list(Role))
        export.add_argument("file", type=Path, help="a file that is not there yet")
        delete.add_argument("--yes", action="store_true", help="do not ask whether it is meant")

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        """Do what is asked for."""
        try:
            getattr(self, f"_{action}")(options)
        except LastAdministrator as error:
            raise CommandError(str(error)) from error

    def _list(self, options: dict[str, Any]) -> None:
        conversations, runs = _counted(Conversation), _counted(Run)
        people = User.objects.order_by("username").prefetch_related("groups", "memberships__space")
        rows = [_row(user, conversations[user.pk], runs[user.pk]) for user in people]
        if options["role"]:
            rows = [row for row in rows if row["role"] == options["role"]]
        for line in map(json.dumps, rows) if options["json"] else table(COLUMNS, rows):
            self.stdout.write(line)

    def _role(self, options: dict[str, Any]) -> None:
        user = _the(options["name"])
        role = Role(options["role"])
        give_role(user, role)
        self.stdout.write(f"{user} has the role {role}: {MEANINGS[role]}.")

    def _export(self, options: dict[str, Any]) -> None:
        user = _the(options["name"])
        try:
            with options["file"].open("xb") as file:
                runs = export_person(user, file)
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}") from error
        self.stdout.write(f"Wrote {options['file']}: the account of {user} and {runs:,} runs.")

    def _delete(self, options: dict[str, Any]) -> None:
        user = _the(options["name"])
        told = holdings(user)
        if not options["yes"]:
            self.stdout.write(f"This deletes {user} with {told} for good.")
            if input("Type the name again to go on: ") != user.get_username():
                raise CommandError("Nothing was deleted.")
        delete_person(user)
        self.stdout.write(f"Deleted {options['name']} with {told}.")


def _counted(model: type[Conversation] | type[Run]) -> Counter[int]:
    counts = model.objects.order_by().values_list("owner").annotate(count=Count("pk"))
    return Counter(dict(counts))


def _row(user: User, conversations: int, runs: int) -> dict[str, Any]:
    return {
        "name": user.get_username(),
        "role": role_of(user),
        "teams": ", ".join(sorted(part.space.slug for part in user.memberships.all())),
        "active": "yes" if user.is_active else "no",
        "email": user.email,
        "joined": user.date_joined.date().isoformat(),
        "last sign-in": user.last_login.date().isoformat() if user.last_login else None,
        "conversations": conversations,
        "runs": runs,
    }


def _the(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is nobody named {name}. `people list` names everybody.")
    return user
