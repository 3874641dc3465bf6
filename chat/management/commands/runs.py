"""Look after runs from a terminal: list, show, requeue, cancel, verify."""

import json
import sys
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.models import ENDED, LIVE, Run, RunStatus
from chat.operations.listing import COLUMNS, chosen, row, whole
from chat.operations.requeue import CannotRequeue, requeue
from chat.operations.table import table
from chat.operations.verify import Verdict, verify
from chat.runs.stop import BY_AN_ADMINISTRATOR, stop

CHUNK = 200
SUMMARY = {
    Verdict.AGREES: "agree",
    Verdict.DIFFERS: "differ",
    Verdict.UNKNOWN: "cannot be replayed",
}


class Command(BaseCommand):
    """Show runs as they are stored, put them back into the queue, end them, and verify them."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the five things that can be done."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        listing = actions.add_parser("list", help="runs that have not ended, or those chosen")
        listing.add_argument("--limit", type=int, default=50)
        listing.add_argument("--json", action="store_true", help="one object a line")
        show = actions.add_parser("show", help="all that is known of one run")
        show.add_argument("run", type=int)
        show.add_argument("--json", action="store_true")
        back = actions.add_parser("requeue", help="have the next free worker go on with runs")
        back.add_argument("--expired", action="store_true", help="those whose lease has expired")
        cancel = actions.add_parser("cancel", help="end runs; what they have so far is kept")
        check = actions.add_parser(
            "verify", help="replay ended runs by their policies; exit code 1 if one does not agree"
        )
        check.add_argument("--all", action="store_true", help="every run that has ended")
        for one in (back, cancel, check):
            one.add_argument("runs", type=int, nargs="*", metavar="RUN")
        for one in (listing, cancel, check):
            one.add_argument("--status", action="append", choices=RunStatus.values)
            one.add_argument("--user", default="", help="the name of the person who asked")
            one.add_argument("--policy", default="", help="the policy's slug")
            one.add_argument("--older-than", type=float, metavar="SECONDS")

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        """Do what is asked for."""
        getattr(self, f"_{action}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        statuses = options["status"] or list(LIVE)
        runs = chosen(**_choice(options) | {"statuses": statuses})
        rows = [row(run) for run in runs[: options["limit"]]]
        lines = map(json.dumps, rows) if options["json"] else table(COLUMNS, rows)
        for line in lines:
            self.stdout.write(line)
        if not options["json"] and (more := runs.count() - len(rows)) > 0:
            self.stdout.write(f"... and {more:,} more")

    def _show(self, options: dict[str, Any]) -> None:
        values = whole(_the(options["run"]))
        if options["json"]:
            self.stdout.write(json.dumps(values, indent=2, ensure_ascii=False))
            return
        for name, value in values.items():
            several = value if isinstance(value, list) and name != "tokens" else None
            self.stdout.write(f"{name}: {'' if several is not None else _text(value)}".rstrip())
            for line in several or ():
                self.stdout.write(f"  {line}")

    def _requeue(self, options: dict[str, Any]) -> None:
        ids = list(options["runs"])
        if options["expired"]:
            ids += chosen(expired=True).values_list("pk", flat=True)
        elif not ids:
            raise CommandError("Name the runs, or say --expired.")
        refused = 0
        for run_id in ids:
            try:
                self.stdout.write(requeue(run_id))
            except (CannotRequeue, Run.DoesNotExist) as error:
                refused += 1
                self.stderr.write(str(error))
        if refused:
            sys.exit(1)

    def _cancel(self, options: dict[str, Any]) -> None:
        choice = _choice(options)
        if not options["runs"] and not _is_any(choice):
            raise CommandError("Name the runs, or choose them by --status, --user and the like.")
        runs = [_the(run_id) for run_id in options["runs"]]
        if _is_any(choice):
            live = [status for status in choice["statuses"] or LIVE if status in LIVE]
            runs += chosen(**choice | {"statuses": live}) if live else []
        for run in runs:
            was_live = stop(run, BY_AN_ADMINISTRATOR)
            run.refresh_from_db()
            what = "is being stopped" if run.is_live else f"has ended ({run.status})"
            self.stdout.write(f"Run {run.pk} {what if was_live else f'had ended ({run.status})'}.")

    def _verify(self, options: dict[str, Any]) -> None:
        choice = _choice(options)
        if not (options["runs"] or options["all"] or _is_any(choice)):
            raise CommandError("Name the runs, choose them, or say --all.")
        runs = chosen(**choice).order_by("pk")
        if options["runs"]:
            runs = runs.filter(pk__in=options["runs"])
        elif not choice["statuses"]:
            runs = runs.filter(status__in=ENDED)
        counts: Counter[Verdict] = Counter()
        for run in runs.select_related("conversation__owner").iterator(CHUNK):
            found = verify(run)
            counts[found.verdict] += 1
            if found.verdict is not Verdict.AGREES or options["runs"]:
                self.stdout.write(str(found))
        self._sum_up(counts, options["runs"])

    def _sum_up(self, counts: Counter[Verdict], named: list[int]) -> None:
        told = ", ".join(f"{counts[verdict]:,} {words}" for verdict, words in SUMMARY.items())
        self.stdout.write(f"Of {counts.total():,} runs {told}.")
        if named and counts.total() < len(set(named)):
            raise CommandError("Some of these runs are not there.")
        if counts[Verdict.AGREES] < counts.total():
            sys.exit(1)


def _choice(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "statuses": options["status"],
        "user": options["user"],
        "policy": options["policy"],
        "older_than": options["older_than"],
    }


def _is_any(choice: dict[str, Any]) -> bool:
    return any(value not in (None, "") for value in choice.values())


def _the(run_id: int) -> Run:
    run = chosen().filter(pk=run_id).first()
    if run is None:
        raise CommandError(f"There is no run {run_id}.")
    return run


def _text(value: object) -> str:
    return "" if value is None else str(value)
