"""`python -m agents --chat`: question after question, from a person or from a pipe."""

import json
import os
import pty
import select
import signal
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.policies.spec import PolicySpec
from tests.unit.agents.test_command import ANSWER, LOOK, ROOT, environment, events, line

Script = Sequence[str | dict[str, Any]]
SECOND = "t\nFinal Answer: It is 84."
PATIENCE = 2.0
"""Seconds after which a person presses a key once more."""
ENDLESS = {"say": "I begin here " + "and go on " * 2000, "rate": 20}


def _as_a_shell_does() -> None:
    """Give a process a terminal of its own, and Ctrl-C its meaning, whoever started the suite."""
    os.close(os.open(os.ttyname(0), os.O_RDWR))
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Screen:
    """A person at a terminal that shows all that is written, as they see it."""

    def __init__(self, words: Sequence[str]) -> None:
        self._terminal, theirs = pty.openpty()
        self.running = subprocess.Popen(
            words,
            cwd=ROOT,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(TERM="dumb", NO_COLOR="1"),
            start_new_session=True,
            preexec_fn=_as_a_shell_does,
        )
        os.close(theirs)
        self.seen = ""
        self._read = 0

    def see(self, sign: str, press: str = "") -> None:
        """Wait until it is shown, after what was waited for before; `press` again until it is."""
        while sign not in self.seen[self._read :]:
            if select.select([self._terminal], [], [], PATIENCE if press else None)[0]:
                self.seen += os.read(self._terminal, 4096).decode()
            else:
                self.type(press)
        self._read = self.seen.index(sign, self._read) + len(sign)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def end(self) -> int:
        code = self.running.wait(60)
        os.close(self._terminal)
        return code


@pytest.fixture
def piped(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Chat over a pipe: `piped("Q?\\nAnd?\\n", [ANSWER, SECOND])`."""

    def run(
        typed: str, script: Script, *words: str, chat: bool = True
    ) -> subprocess.CompletedProcess[str]:
        words = ("--chat", *words) if chat else words
        return subprocess.run(
            line(tmp_path, words, script),
            cwd=ROOT,
            input=typed,
            capture_output=True,
            text=True,
            env=environment(),
        )

    return run


Piped = Callable[..., subprocess.CompletedProcess[str]]


def requests(output: str) -> list[list[dict[str, Any]]]:
    """Return the messages of each call to the model."""
    called = [event for event in events(output) if event["type"] == "model.called"]
    return [json.loads(event["call"]["request"])["messages"] for event in called]


def test_each_line_of_a_pipe_is_a_question_that_is_told_those_before(piped: Piped) -> None:
    done = piped("What is 6 * 7?\n\nAnd times two?", [LOOK, ANSWER, SECOND], "--json")

    assert (done.returncode, done.stderr) == (0, "")
    ended = [event["outcome"] for event in events(done.stdout) if event["type"] == "run.ended"]
    assert [outcome["answer"] for outcome in ended] == ["It is 42.", "It is 84."]
    first, _, last = requests(done.stdout)
    assert [message["content"] for message in last[1:3]] == ["What is 6 * 7?", "It is 42."]
    assert "And times two?" in last[3]["content"]
    assert len(first) == 2


def test_what_was_not_answered_is_not_told_and_the_chat_goes_on(piped: Piped) -> None:
    failed = {"fail": "busy", "message": "The server is full."}
    done = piped("One?\nTwo?\n", [failed, SECOND], "--json")

    assert done.returncode == 0
    assert "One?" not in json.dumps(requests(done.stdout)[-1])


def test_no_more_is_told_than_in_the_page(piped: Piped) -> None:
    answers = [f"t\nFinal Answer: Answer {n}." for n in range(7)]
    done = piped("".join(f"Question {n}?\n" for n in range(7)), answers, "--json")

    last = requests(done.stdout)[-1]
    assert [message["content"] for message in last[1:-1:2]] == [
        f"Question {n}?" for n in range(1, 6)
    ]


def test_the_code_of_a_pipe_is_that_of_its_last_run(piped: Piped) -> None:
    failed = {"fail": "busy", "message": "The server is full."}

    assert piped("One?\nTwo?\n", [ANSWER, failed]).returncode == 1
    assert piped("", []).returncode == 0


def test_the_first_question_may_stand_in_the_command(piped: Piped) -> None:
    done = piped("Two?\n", [ANSWER, SECOND], "One?")

    assert done.stdout.count("\nTurn 1\n") == 2
    assert done.stdout.startswith("explicit on scripted scripted\n")
    assert done.stdout.count("explicit on scripted") == 1


def test_nothing_that_a_model_or_tool_says_commands_the_terminal(piped: Piped) -> None:
    hostile = "\x1b[2J\x9b2J\x07\x08\u202e"
    call = f'{hostile}\nAction: python_repl{hostile}\nAction Input: {{"code": "{hostile}"}}'
    done = piped("Q?\n", [call, f"t{hostile}\nFinal Answer: a{hostile}b"])

    assert not set("\x1b\x9b\x07\x08\u202e") & set(done.stdout + done.stderr)
    assert "a[2J2Jb" in done.stdout


def test_instructions_are_told_with_every_call(piped: Piped, tmp_path: Path) -> None:
    file = tmp_path / "instructions.txt"
    file.write_text("Answer in Latin.\n")

    for told in (f"@{file}", "Answer in Latin."):
        done = piped("One?\nTwo?\n", [LOOK, ANSWER, SECOND], "--json", "--instructions", told)
        systems = [messages[0] for messages in requests(done.stdout)]
        assert [message["role"] for message in systems] == ["system"] * 3
        inside = "\nAnswer in Latin.\n</person_instructions"
        assert all(inside in message["content"] for message in systems)


def test_a_policy_may_come_from_a_file_and_options_win(piped: Piped, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    spec = PolicySpec(policy="reflexion", tools=("calculator",))
    file.write_text(spec.model_dump_json())

    done = piped("", [ANSWER], "Q?", "--policy-file", str(file), chat=False)
    limited = piped(
        *("", [LOOK, "About 42."], "Q?", "--policy-file", str(file), "--max-turns", "1"), chat=False
    )

    assert done.stdout.startswith("reflexion on scripted scripted\n")
    assert limited.returncode == 3
    assert "with 1 turns in all" in limited.stdout


def test_a_file_that_can_be_published_is_read_too(piped: Piped, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('slug = "mine"\nname = "Mine"\ndescription = ""\npolicy = "reflexion"\n')

    done = piped("", [ANSWER], "Q?", "--policy-file", str(file), chat=False)

    assert done.stdout.startswith("reflexion on scripted scripted\n")


def test_a_file_may_name_a_model_for_a_role(piped: Piped, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    summaries = {"provider": "scripted", "script": [{"say": "As far as I came."}]}
    told = {"policy": "explicit", "tools": ["calculator"], "models": {"summarize": summaries}}
    file.write_text(json.dumps(told))

    done = piped(*("", [LOOK], "Q?", "--policy-file", str(file), "--max-turns", "1"), chat=False)

    assert done.returncode == 3
    assert "As far as I came." in done.stdout


@pytest.mark.parametrize(
    ("content", "words", "why"),
    [
        ("{", (), "policy.json is not JSON"),
        ('{"policy": "dance"}', (), "There is no policy 'dance'"),
        ('{"policy": "explicit", "speed": 9}', (), "speed"),
        ('{"policy": "explicit", "settings": {"speed": 9}}', (), "speed"),
        ("[]", (), "dictionary"),
        ('{"policy": "explicit"}', ("--policy", "rewoo"), "Say --policy or --policy-file"),
    ],
)
def test_a_wrong_file_is_said(
    content: str, words: tuple[str, ...], why: str, piped: Piped, tmp_path: Path
) -> None:
    file = tmp_path / "policy.json"
    file.write_text(content)

    done = piped("", [ANSWER], "Q?", "--policy-file", str(file), *words, chat=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_a_person_chats_and_ends_it(tmp_path: Path) -> None:
    screen = Screen(line(tmp_path, ["--chat"], [LOOK, ANSWER, SECOND]))
    screen.see("> ")
    screen.type("What is 6 * 7?\n")
    screen.see("It is 42.")
    screen.see("> ")
    screen.type("And times two?\n")
    screen.see("It is 84.")
    screen.see("> ")
    screen.type("\x04")

    assert screen.end() == 0


def test_ctrl_c_stops_the_run_and_not_the_chat(tmp_path: Path) -> None:
    screen = Screen(line(tmp_path, ["--chat"], [ENDLESS, SECOND]))
    screen.see("> ")
    screen.type("Q?\n")
    screen.see("I begin")
    screen.type("\x03")
    screen.see("Stopped")
    screen.see("> ")
    screen.type("never mind\x03")  # nothing runs: it takes back the line
    # Between its prompt and its first look at the keys, readline misses a Ctrl-C.
    screen.see("> ", press="\x03")
    screen.type("And?\n")
    screen.see("It is 84.")
    screen.see("> ")
    screen.type("\x04")

    assert screen.end() == 0


def test_a_run_that_is_terminated_ends_the_chat(tmp_path: Path) -> None:
    screen = Screen(line(tmp_path, ["--chat"], [ENDLESS, SECOND]))
    screen.see("> ")
    screen.type("Q?\n")
    screen.see("I begin")
    screen.running.send_signal(signal.SIGTERM)
    screen.see("Stopped")

    assert screen.end() == 130


def test_lines_are_gone_back_to_and_kept_only_in_the_file_that_is_named(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    for typed in ("First?\n", "\x10\n"):  # the second chat takes the line of the first: Ctrl-P
        screen = Screen(line(tmp_path, ["--chat", "--history", str(file)], [ANSWER]))
        screen.see("> ")
        screen.type(typed)
        screen.see("It is 42.")
        screen.see("> ")
        screen.type("\x04")
        assert screen.end() == 0

    assert file.read_text() == "First?\nFirst?\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_of_lines_without_a_chat_is_refused(piped: Piped, tmp_path: Path) -> None:
    done = piped("", [ANSWER], "Q?", "--history", str(tmp_path / "lines"), chat=False)

    assert done.returncode == 2
    assert "say --chat, too" in done.stderr
