"""A short chaos run in the suite: the whole of it is `make chaos`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", [1])
def test_nothing_is_lost_doubled_or_lied_about_when_everything_dies(
    seed: int, tmp_path: Path
) -> None:
    log = tmp_path / "chaos.log"
    options = {"seed": seed, "kills": 10, "minutes": 0.4, "runs": 6, "log": log}
    words = [word for name, told in options.items() for word in (f"--{name}", str(told))]

    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.run", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{log.read_text()[-20_000:]}"
