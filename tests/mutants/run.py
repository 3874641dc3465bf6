"""Make small mistakes in the run machinery, and see whether its tests notice: `make mutants`.

`SEED=` and `COUNT=` choose a sample of all mistakes in chat/runs, chat/stream and chat/live; the
same seed on the same source makes the same ones. Each is made in a copy of the source and met by
the tests that are about its file, all beside one Postgres and one Valkey. What survives is printed
as it is.
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
from pathlib import Path
from typing import NamedTuple

from project.local.throwaway import throwaway
from tests.mutants.making import Place, mutant, places
from tests.mutants.matter import TESTS

ROOT = Path(__file__).resolve().parents[2]
ALL_PASSED, SOME_FAILED = 0, 1
PATIENCE = 120.0
"""Seconds that tests get beyond thrice their usual time, before they count as failed."""


class Met(NamedTuple):
    """How the tests of a file took a mistake: the exit code of pytest, and the seconds."""

    code: int
    seconds: float


def main() -> int:
    """Print what survived and the figure; end with 1 if tests fail without a mistake."""
    options = _options()
    sample = chosen(options.seed, options.count)
    print(f"{len(sample)} mistakes of seed {options.seed}", flush=True)
    with throwaway() as servers, tempfile.TemporaryDirectory() as folder:
        copy = _copied(Path(folder))
        usual = {file: _met(copy, servers, file, 600) for file in sorted({f for f, _ in sample})}
        for file in (file for file, met in usual.items() if met.code != ALL_PASSED):
            print(f"The tests of {file} do not pass as it is, and say nothing of its mistakes.")
        made = [(file, one) for file, one in sample if usual[file].code == ALL_PASSED]
        killed = sum(_is_noticed(copy, servers, *one, usual[one[0]].seconds) for one in made)
    share = f"{100 * killed / len(made):.0f} %" if made else "none"
    print(f"FIGURE mutants-killed {killed} of {len(made)} ({share}), seed {options.seed}")
    return int(len(made) < len(sample))


def chosen(seed: int, count: int) -> list[tuple[str, Place]]:
    """Return a sample of all mistakes, file by file."""
    everything = [(file, one) for file in TESTS for one in places((ROOT / file).read_text())]
    sample = random.Random(seed).sample(everything, min(count, len(everything)))  # noqa: S311
    return sorted(sample)


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


def _is_noticed(copy: Path, servers: dict[str, str], file: str, place: Place, usual: float) -> bool:
    path = copy / file
    before = path.read_text()
    path.write_text(mutant(before, place))
    try:
        met = _met(copy, servers, file, 3 * usual + PATIENCE)
    finally:
        path.write_text(before)
    is_noticed = met.code != ALL_PASSED
    word = "killed  " if is_noticed else "SURVIVED"
    print(f"{word} {file}:{place.line}: {place.what} ({met.seconds:.0f} s)", flush=True)
    return is_noticed


def _met(copy: Path, servers: dict[str, str], file: str, patience: float) -> Met:
    """Run the tests of a file until the first one fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--create-db", "--timeout=100"]
    began = time.monotonic()
    with subprocess.Popen(
        [*command, "-p", "no:cacheprovider", *TESTS[file]],
        cwd=copy,
        env=os.environ | servers | {"PYTHONDONTWRITEBYTECODE": "1", "CI": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            code = SOME_FAILED
    return Met(code, time.monotonic() - began)


def _options() -> argparse.Namespace:
    told = os.environ
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(told.get("SEED") or secrets.randbelow(999)))
    parser.add_argument("--count", type=int, default=int(told.get("COUNT") or 60))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
