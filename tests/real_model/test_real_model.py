"""A real model answers behind the whole product in every policy: `make real-model`, in short."""

import os
import re
import subprocess
import sys

from agents.policies import POLICIES

COUNT, SECONDS = 2, 4
LINE = re.compile(r"^(\w+) +structured (on|off) ", re.MULTILINE)


def test_every_run_of_a_real_model_ends_honestly_in_every_policy() -> None:
    bounds = {"COUNT": str(COUNT), "SECONDS": str(SECONDS), "ONLY": "", "MODEL": ""}

    made = subprocess.run(
        [sys.executable, "-m", "tests.real_model.run"],
        env=os.environ | bounds,
        capture_output=True,
        text=True,
        check=False,
    )

    asked = LINE.findall(made.stdout)
    assert {name for name, mode in asked if mode == "on"} == set(POLICIES), made.stderr
    assert f"{len(asked) * COUNT} runs, " in made.stdout
    assert not re.findall("^BAD .*", made.stdout, re.MULTILINE)
    assert "Traceback" not in made.stdout + made.stderr
