"""Look after artifacts from a terminal: move, sweep."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.artifacts.store import ArtifactsAway
from chat.runs.record.moving import move_out
from chat.runs.worker.sweeper import find_strays, sweep_one


class Command(BaseCommand):
    """Move what rows still hold into the store of artifacts, and sweep what no row names."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Name what can be done."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        actions.add_parser("move", help="make artifacts of the pictures and long texts in rows")
        sweep = actions.add_parser("sweep", help="delete contents that no artifact has any more")
        sweep.add_argument(
            "--all", action="store_true", help="look through the whole store, as after a restore"
        )

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        """Do what is asked for."""
        try:
            getattr(self, f"_{action}")(options)
        except ArtifactsAway as away:
            raise CommandError(f"The artifacts are away: {away}") from away

    def _move(self, options: dict[str, Any]) -> None:
        self.stdout.write(f"Moved what {move_out():,} actions held.")

    def _sweep(self, options: dict[str, Any]) -> None:
        if options["all"]:
            self.stdout.write(f"Found {find_strays():,} contents that nothing knows.")
        count = 0
        while (is_gone := sweep_one()) is not None:
            count += is_gone
        self.stdout.write(f"Deleted {count:,} contents.")
