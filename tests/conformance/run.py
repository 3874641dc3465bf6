"""Run case files against the engine: `make conformance CASES=dir`.

A case file is JSON, `{"cases": [...]}` or a bare list; each case has at least `id` and `area`. What
an area means to the engine is said by one adapter, a module in `areas/` with

    AREAS: dict[str, Callable[[dict[str, Any]], str | None]]

whose check returns None for a case that passed, raises AssertionError with the difference for one
that failed, or returns in one line why another behaviour is wanted here. Any other exception is a
crash, and so a failure, whatever the case expects.
"""

import importlib.util
import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Case = dict[str, Any]
Check = Callable[[Case], str | None]

ADAPTERS = Path(__file__).resolve().parent / "areas"
_SHOWN = 2_000
"""Characters of a difference that are printed."""


class Unusable(Exception):
    """Raised for a case file or an adapter that cannot be read, in words for who can mend it."""


@dataclass(frozen=True)
class Verdict:
    """What came of one case: `difference` is empty when it passed, `reason` when as expected."""

    id: str
    area: str
    difference: str = ""
    reason: str = ""


@dataclass
class Report:
    """The verdicts of all cases, with what could not be read at all."""

    verdicts: list[Verdict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Tell whether there were cases, and all of them passed."""
        failed = any(verdict.difference for verdict in self.verdicts)
        return bool(self.verdicts) and not failed and not self.problems

    def lines(self) -> Iterator[str]:
        """Yield the report: passed and total by area, accepted differences, failures."""
        areas = sorted({verdict.area for verdict in self.verdicts})
        width = max((len(area) for area in areas), default=0)
        for area in areas:
            of_area = [verdict for verdict in self.verdicts if verdict.area == area]
            yield f"{area:<{width}}  {_passed(of_area)} / {len(of_area)}"
        yield f"{'all':<{width}}  {_passed(self.verdicts)} / {len(self.verdicts)}"
        for verdict in self.verdicts:
            if verdict.reason:
                yield f"accepted  {verdict.id} ({verdict.area}): {verdict.reason}"
        for verdict in self.verdicts:
            if verdict.difference:
                yield f"FAILED    {verdict.id} ({verdict.area}): {verdict.difference[:_SHOWN]}"
        yield from (f"FAILED    {problem}" for problem in self.problems)


def conform(folder: Path, adapters: Path = ADAPTERS) -> Report:
    """Return what came of every case in the JSON files of `folder`."""
    report = Report()
    checks = _checks(adapters, report)
    files = sorted(folder.glob("*.json"))
    if not files:
        report.problems.append(f"{folder}: there is no case file here.")
    for file in files:
        try:
            cases = _cases(file)
        except Unusable as error:
            report.problems.append(str(error))
        else:
            report.verdicts += [_verdict(case, checks) for case in cases]
    return report


def main(words: Sequence[str]) -> int:
    """Print the report on the folder that is named; 0 only if every case passed."""
    if len(words) != 1:
        print("Name the folder of case files: make conformance CASES=folder", file=sys.stderr)
        return 2
    report = conform(Path(words[0]))
    for line in report.lines():
        print(line)
    return 0 if report.is_good else 1


def _checks(adapters: Path, report: Report) -> dict[str, Check]:
    checks: dict[str, Check] = {}
    for path in sorted(adapters.glob("*.py")):
        try:
            areas = _areas(path)
        except Unusable as error:
            report.problems.append(str(error))
            continue
        for area, check in areas.items():
            if area in checks:
                report.problems.append(f"{path.name}: another adapter has the area {area!r}, too.")
            checks.setdefault(area, check)
    return checks


def _areas(path: Path) -> dict[str, Check]:
    name = f"conformance_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Unusable(f"{path.name}: this is no module.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # for what resolves annotations by it, as dataclasses do
    try:
        spec.loader.exec_module(module)
        areas: dict[str, Check] = module.AREAS
    except Exception as error:
        raise Unusable(f"{path.name}: {type(error).__name__}: {error}") from error
    return areas


def _cases(file: Path) -> list[Case]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(f"{file.name}: {error}") from error
    cases = content.get("cases") if isinstance(content, dict) else content
    if not isinstance(cases, list) or not all(_is_case(case) for case in cases):
        raise Unusable(f"{file.name}: this is no list of cases, each with an id and an area.")
    return cases


def _is_case(case: object) -> bool:
    return isinstance(case, dict) and all(isinstance(case.get(key), str) for key in ("id", "area"))


def _verdict(case: Case, checks: dict[str, Check]) -> Verdict:
    name, area = case["id"], case["area"]
    check = checks.get(area)
    if check is None:
        return Verdict(name, area, difference="no adapter knows this area.")
    try:
        reason = check(case)
    except AssertionError as error:
        return Verdict(name, area, difference=str(error) or "the check failed.")
    except Exception as error:  # a crash is a failure of the case, never of the run
        return Verdict(name, area, difference=f"crashed: {type(error).__name__}: {error}")
    return Verdict(name, area, reason=reason or "")


def _passed(verdicts: Sequence[Verdict]) -> int:
    return sum(not verdict.difference for verdict in verdicts)


if __name__ == "__main__":
    logging.disable()  # tools that break on purpose would fill it
    sys.exit(main(sys.argv[1:]))
