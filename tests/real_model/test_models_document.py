"""The commands of docs/models.md run as they stand, those that ask a model against a real one."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.real_model.run import served

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [
    shlex.split(line, comments=True)
    for block in BLOCK.findall(DOCUMENT)
    for line in block.splitlines()
]
ANSWERED, RAN_OUT = 0, 3


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )


def test_each_command_is_of_make_or_of_the_terminal() -> None:
    assert {words[0] for words in COMMANDS} == {"make", ".venv/bin/python"}


def test_make_installs_what_serves_a_model_where_one_is_named() -> None:
    named = [words for words in COMMANDS if words[0] == "make"]

    for words in named:
        assert "environment.py --local" in run([*words, "--dry-run"]).stdout
    assert "--local" not in run(["make", "run", "--dry-run"], MODEL="").stdout


def test_the_terminal_asks_a_real_model_and_comes_to_an_end() -> None:
    asking = [words[1:] for words in COMMANDS if words[0] != "make"]
    with served("smollm2") as model:
        ended = [run([sys.executable, *words], **model.settings({})) for words in asking]

    for one in ended:
        assert one.returncode in (ANSWERED, RAN_OUT), one.stderr
        assert "Traceback" not in one.stderr
