"""Make small mistakes in the run machinery, and see whether its tests notice: `make mutants`.

`SEED=` and `COUNT=` choose a sample of all mistakes in chat/runs, chat/stream and chat/live; the
same seed on the same source makes the same ones. `ONLY=` makes some of the sample by their numbers,
or whatever can be made in a line: `ONLY=3,38-60,chat/live/access.py:89`. Each is made in a copy of
the source and met by the tests that are about its file, all beside one Postgres and one Valkey;
those tests pass once without a mistake before, or what they say of it does not count.
What survives is printed as it is, and what does not with the test that noticed.
"""

import argparse
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from project.local.throwaway import throwaway
from tests.mutants.making import Place, mutant, places
from tests.mutants.matter import TESTS

ROOT = Path(__file__).resolve().parents[2]
ALL_PASSED, SOME_FAILED = 0, 1
PATIENCE = 120.0
"""Seconds that tests get beyond thrice their usual time, before they count as failed."""

SEEN = 160
"""How many characters of a failure are shown."""


class Mistake(NamedTuple):
    """A mistake, and its number in the sample; 0 if it is made though it is not in the sample."""

    number: int
    file: str
    place: Place


class Met(NamedTuple):
    """How tests went: the exit code of pytest, the seconds, and the first failure in its words."""

    code: int
    seconds: float
    failure: str

    @property
    def all_passed(self) -> bool:
        """Tell whether no test failed."""
        return self.code == ALL_PASSED


def main() -> int:
    """Print what survived and the figure; end with 1 if tests fail without a mistake."""
    options = _options()
    sample = wanted(chosen(options.seed, options.count), options.only)
    print(f"{len(sample)} mistakes of seed {options.seed}", flush=True)
    with throwaway() as servers, tempfile.TemporaryDirectory() as folder:
        copy = _copied(Path(folder))
        usual = _usual(copy, servers, sorted({one.file for one in sample}))
        for file, met in usual.items():
            if not met.all_passed:
                print(f"The tests of {file} do not pass as it is, and say nothing of its mistakes.")
                print(f"  {met.failure}", flush=True)
        made = [one for one in sample if usual[one.file].all_passed]
        killed = sum(_is_noticed(copy, servers, one, usual[one.file].seconds) for one in made)
    share = f"{100 * killed / len(made):.0f} %" if made else "none"
    print(f"FIGURE mutants-killed {killed} of {len(made)} ({share}), seed {options.seed}")
    return int(len(made) < len(sample))


def chosen(seed: int, count: int) -> list[tuple[str, Place]]:
    """Return a sample of all mistakes, file by file."""
    everything = [(file, one) for file in TESTS for one in places((ROOT / file).read_text())]
    sample = random.Random(seed).sample(everything, min(count, len(everything)))  # noqa: S311
    return sorted(sample)


def wanted(sample: list[tuple[str, Place]], only: str) -> list[Mistake]:
    """Return what `only` names of a sample, which counts from 1; all of it if that is empty."""
    numbered = [Mistake(number, *one) for number, one in enumerate(sample, start=1)]
    if not only:
        return numbered
    found: list[Mistake] = []
    for name in only.split(","):
        file, _, line = name.partition(":")
        if line:
            here = [Mistake(0, file, one) for one in places((ROOT / file).read_text())]
            found += [one for one in here if one.place.line == int(line)]
        else:
            first, _, last = name.partition("-")
            found += numbered[int(first) - 1 : int(last or first)]
    return found


def _copied(folder: Path) -> Path:
    """Copy what is tracked or new, so that a mistake never gets into the work tree."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    copy = folder / "source"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


def _usual(copy: Path, servers: dict[str, str], files: list[str]) -> dict[str, Met]:
    """Run the tests of all files once, each test once, and return how those of each file went."""
    tests = list(dict.fromkeys(test for file in files for test in TESTS[file]))
    report = copy.parent / "usual.xml"
    whole = _met(copy, servers, tests, 1200, f"--junitxml={report}", "-o", "junit_family=xunit1")
    if whole.code not in (ALL_PASSED, SOME_FAILED):
        return dict.fromkeys(files, whole)
    seconds: dict[str, float] = defaultdict(float)
    failures: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it
        test = case.get("file", "")
        seconds[test] += float(case.get("time", 0))
        if case.find("failure") is not None or case.find("error") is not None:
            failures.setdefault(test, f"{test}::{case.get('name')}")
    around = whole.seconds - sum(seconds.values())
    usual: dict[str, Met] = {}
    for file in files:
        failed = [failures[test] for test in TESTS[file] if test in failures]
        took = around + sum(seconds[test] for test in TESTS[file])
        usual[file] = Met(SOME_FAILED if failed else ALL_PASSED, took, ", ".join(failed))
    return usual


def _is_noticed(copy: Path, servers: dict[str, str], mistake: Mistake, usual: float) -> bool:
    number, file, place = mistake
    path = copy / file
    before = path.read_text()
    path.write_text(mutant(before, place))
    try:
        met = _met(copy, servers, TESTS[file], 3 * usual + PATIENCE, "-x")
    finally:
        path.write_text(before)
    word = "SURVIVED" if met.all_passed else "killed  "
    print(f"{word} {number} {file}:{place.line}: {place.what} ({met.seconds:.0f} s)", flush=True)
    if not met.all_passed:
        print(f"         {met.failure}", flush=True)
    return not met.all_passed


def _met(
    copy: Path, servers: dict[str, str], tests: Iterable[str], patience: float, *options: str
) -> Met:
    command = [sys.executable, "-m", "pytest", "-q", "--create-db", "--timeout=100", *options]
    began = time.monotonic()
    with (
        tempfile.TemporaryFile("w+", errors="replace") as told,
        subprocess.Popen(
            [*command, "-p", "no:cacheprovider", *tests],
            cwd=copy,
            env=os.environ | servers | {"PYTHONDONTWRITEBYTECODE": "1", "CI": "1"},
            stdout=told,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
    ):
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return Met(SOME_FAILED, time.monotonic() - began, f"Not done after {patience:.0f} s.")
        seconds = time.monotonic() - began
        told.seek(0)
        failures = [
            line[:SEEN].strip() for line in told if line.startswith(("FAILED tests", "ERROR tests"))
        ]
    return Met(code, seconds, failures[0] if failures else f"pytest ended with {code}.")


def _options() -> argparse.Namespace:
    told = os.environ
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(told.get("SEED") or secrets.randbelow(999)))
    parser.add_argument("--count", type=int, default=int(told.get("COUNT") or 60))
    parser.add_argument("--only", default=told.get("ONLY") or "")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
