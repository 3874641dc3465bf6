"""Look after policies from a terminal: list, show, diff, publish, retire, offer."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Count

from chat.models import Origin, Policy, PolicyVersion
from chat.models.policy import PublishedMeanwhile
from chat.operations.table import table
from chat.publishing.check import Unfit
from chat.publishing.difference import difference
from chat.publishing.policy_file import as_file, read_policy_file
from chat.publishing.publish import offer, publish, retire

COLUMNS = ("slug", "name", "base", "version", "by", "offered", "versions", "runs")


class Command(BaseCommand):
    """Say which policies there are and what their versions say; publish, retire and offer them."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Name what can be done."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        listing = actions.add_parser("list", help="every policy with its latest version")
        listing.add_argument("--json", action="store_true", help="one object a line")
        show = actions.add_parser("show", help="one version as a file, to be published elsewhere")
        diff = actions.add_parser("diff", help="what one version says otherwise than another")
        publishing = actions.add_parser("publish", help="publish a version from a file")
        publishing.add_argument("file", type=Path, help="TOML or JSON, as docs/policies.md says")
        publishing.add_argument(
            "--after", type=int, metavar="NUMBER", help="refuse where the latest is another"
        )
        publishing.add_argument("--check", action="store_true", help="only say whether it is fit")
        retiring = actions.add_parser("retire", help="take a policy, or one version, from new runs")
        offering = actions.add_parser("offer", help="offer a retired policy again")
        for one in (show, diff, retiring, offering):
            one.add_argument("slug")
        show.add_argument("number", type=int, nargs="?", help="the version; the latest without")
        retiring.add_argument("number", type=int, nargs="?", help="the version; all without")
        diff.add_argument("before", type=int, nargs="?", help="the one before the latest, without")
        diff.add_argument("after", type=int, nargs="?", help="the latest, without")

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        """Do what is asked for."""
        try:
            getattr(self, f"_{action}")(options)
        except Unfit as error:
            raise CommandError("\n".join(_words(error))) from error

    def _list(self, options: dict[str, Any]) -> None:
        rows = [_row(policy) for policy in Policy.objects.filter(origin=Origin.OURS)]
        for line in map(json.dumps, rows) if options["json"] else table(COLUMNS, rows):
            self.stdout.write(line)

    def _show(self, options: dict[str, Any]) -> None:
        version = _version(_policy(options["slug"]), options["number"])
        self.stdout.write(json.dumps(as_file(version), indent=2, ensure_ascii=False))

    def _diff(self, options: dict[str, Any]) -> None:
        policy = _policy(options["slug"])
        after = _version(policy, options["after"])
        number = options["before"]
        before = policy.versions.filter(number__lt=after.number).order_by("-number").first()
        if number is not None:
            before = _version(policy, number)
        if before is None:
            raise CommandError(f"There is no version before {after}.")
        self.stdout.write(f"{before} -> {after}")
        for line in difference(before, after).lines():
            self.stdout.write(line)

    def _publish(self, options: dict[str, Any]) -> None:
        words, spec = read_policy_file(options["file"])
        if options["check"]:
            self.stdout.write(f"{options['file']} can be published as {words.slug}.")
            return
        try:
            version = publish(words, spec, after=options["after"])
        except PublishedMeanwhile as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{version} ({words.slug}) is what new runs use.")

    def _retire(self, options: dict[str, Any]) -> None:
        policy = _policy(options["slug"])
        if options["number"] is None:
            retire(policy)
            self.stdout.write(f"{policy} is not offered any more; its {_runs(policy)} stay.")
            return
        version = _version(policy, options["number"])
        version.retire()
        left = policy.versions.current().order_by("-number").first()
        then = f"new runs use {left}" if left is not None else "no version is left for new runs"
        self.stdout.write(f"{version} is retired; {then}.")

    def _offer(self, options: dict[str, Any]) -> None:
        policy = _policy(options["slug"])
        offer(policy)
        self.stdout.write(f"{policy} is offered; new runs use {policy.latest}.")


def _policy(slug: str) -> Policy:
    policy = Policy.objects.filter(slug=slug, origin=Origin.OURS).first()
    if policy is None:
        raise CommandError(f"There is no policy {slug}. `policies list` names them all.")
    return policy


def _version(policy: Policy, number: int | None) -> PolicyVersion:
    versions = policy.versions.all() if number is not None else policy.versions.current()
    if number is not None:
        versions = versions.filter(number=number)
    version = versions.order_by("-number").first()
    if version is None:
        wanted = "version for new runs" if number is None else f"version {number}"
        raise CommandError(f"{policy} has no {wanted}.")
    return version


def _row(policy: Policy) -> dict[str, Any]:
    newest = policy.versions.current().order_by("-number").first()
    counted = policy.versions.aggregate(versions=Count("pk", distinct=True), runs=Count("runs"))
    return {
        "slug": policy.slug,
        "name": policy.name,
        "base": None if newest is None else newest.content.get("policy"),
        "version": None if newest is None else newest.number,
        "by": None if newest is None else newest.publisher,
        "offered": "yes" if policy.is_offered and newest is not None else "no",
        **counted,
    }


def _runs(policy: Policy) -> str:
    count = policy.versions.aggregate(runs=Count("runs"))["runs"]
    return f"{count:,} runs"


def _words(error: Unfit) -> list[str]:
    return [f"{at}: {what}" if at else what for at, what in error.problems.items()]
