"""Run files of model replies against the policies: `make replies CASES=folder [ARGS="--show 5"]`.

A file is JSON: `{"cases": [...]}` or a bare list. A case has an `id`, a `family`, what a model said
and what is `expected` of it. What was said decides who plays it: `reply`, a text, is for
`tests/replies/text.py`; `chunks`, the objects of a stream, for `tests/replies/wire.py`. Such a
module has

    def play(case: dict[str, Any]) -> Mapping[str, str]

which returns for each policy that the case is for what is wrong, empty where nothing is.
"""

import argparse
import importlib
import importlib.util
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Case = dict[str, Any]
Play = Callable[[Case], Mapping[str, str]]

ENOUGH = 0.98
"""The share of each file that must pass."""

PLAYERS = {"reply": "tests.replies.text", "chunks": "tests.replies.wire"}
"""Who plays a case, by the field that holds what was said."""

_SHOWN = 1_500


@dataclass(frozen=True)
class Played:
    """One case with one policy; `wrong` is empty where it passed."""

    file: str
    family: str
    id: str
    policy: str
    wrong: str


@dataclass
class Report:
    """All that was played, and what could not be."""

    played: list[Played] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """Tell whether something was played, and enough of each file passed."""
        files = {one.file for one in self.played}
        return (
            bool(files) and not self.problems and all(self.share(file) >= ENOUGH for file in files)
        )

    def share(self, file: str) -> float:
        """Return the share of a file that passed."""
        of_file = [one for one in self.played if one.file == file]
        return _passed(of_file) / len(of_file)

    def lines(self, show: int = 0) -> Iterator[str]:
        """Yield passed and total by file, family and policy, then the first failures."""
        policies = list(dict.fromkeys(one.policy for one in self.played))
        for file in sorted({one.file for one in self.played}):
            of_file = [one for one in self.played if one.file == file]
            yield f"{file}  {_passed(of_file)} / {len(of_file)} ({self.share(file):.1%})"
            for policy in policies:
                if of_policy := [one for one in of_file if one.policy == policy]:
                    yield f"  {policy:<14} {_passed(of_policy)} / {len(of_policy)}"
            for family in dict.fromkeys(one.family for one in of_file):
                of_family = [one for one in of_file if one.family == family]
                yield f"    {family:<24} {_passed(of_family)} / {len(of_family)}"
        for file, count in self.left.items():
            yield f"{file}: {count} cases are not played here"
        failed = [one for one in self.played if one.wrong]
        for one in failed[:show]:
            yield f"FAILED {one.id} ({one.policy}): {one.wrong[:_SHOWN]}"
        yield from (f"FAILED {problem}" for problem in self.problems)


def report_on(folder: Path, families: Sequence[str] = ()) -> Report:
    """Play each case of the JSON files of `folder`, or those of some families."""
    report = Report()
    files = sorted(folder.glob("*.json"))
    if not files:
        report.problems.append(f"{folder}: there is no file of replies here.")
    for file in files:
        try:
            cases = _cases(file)
        except (OSError, ValueError) as error:
            report.problems.append(f"{file.name}: {error}")
            continue
        for case in cases:
            if not families or case["family"] in families:
                _add(report, file.name, case)
    return report


def main(words: Sequence[str]) -> int:
    """Print the report on the folder that is named; 0 only if enough of each file passed."""
    given = argparse.ArgumentParser(prog="make replies", description=__doc__)
    given.add_argument("folder", type=Path)
    given.add_argument("--show", type=int, default=0, help="how many failures are printed")
    given.add_argument("--family", action="append", default=[], help="play only these")
    asked = given.parse_args(words)
    report = report_on(asked.folder, asked.family)
    for line in report.lines(asked.show):
        print(line)
    return 0 if report.is_good else 1


def _cases(file: Path) -> list[Case]:
    content = json.loads(file.read_text(encoding="utf-8"))
    cases = content.get("cases") if isinstance(content, dict) else content
    if not isinstance(cases, list) or not all(_is_case(case) for case in cases):
        raise ValueError("this is no list of cases, each with an id, a family and what is expected")
    return cases


def _is_case(case: object) -> bool:
    if not isinstance(case, dict) or not isinstance(case.get("expect"), dict):
        return False
    return all(isinstance(case.get(key), str) for key in ("id", "family"))


def _add(report: Report, file: str, case: Case) -> None:
    play = _player(case)
    if play is None:
        report.left[file] = report.left.get(file, 0) + 1
        return
    try:
        wrong = dict(play(case))
    except Exception as error:  # a crash is a failure of the case, never of the run
        wrong = {"crash": f"crashed: {type(error).__name__}: {error}"}
    for policy, found in wrong.items():
        report.played.append(Played(file, case["family"], case["id"], policy, found))


def _player(case: Case) -> Play | None:
    name = next((module for held, module in PLAYERS.items() if held in case), None)
    if name is None or importlib.util.find_spec(name) is None:
        return None
    play: Play = importlib.import_module(name).play
    return play


def _passed(played: Sequence[Played]) -> int:
    return sum(not one.wrong for one in played)


if __name__ == "__main__":
    logging.disable()
    sys.exit(main(sys.argv[1:]))
