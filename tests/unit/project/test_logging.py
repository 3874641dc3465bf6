"""Logs are readable, and hold no secret."""

import json
import logging
import sys
from threading import Thread

import pytest

from chat.runs.worker.log_context import working_on
from project.logging import JsonFormatter, TextFormatter, WithTraceback, secrets_in


def _record(message: str, level: int = logging.INFO) -> logging.LogRecord:
    return logging.LogRecord("chat.runs", level, "here.py", 1, message, None, None)


def test_a_line_names_time_logger_and_message() -> None:
    line = TextFormatter().format(_record("Run 12 began"))

    assert line.endswith(" chat.runs: Run 12 began")


def test_a_warning_says_that_it_is_one() -> None:
    line = TextFormatter().format(_record("Careful", logging.WARNING))

    assert "WARNING chat.runs: Careful" in line


def test_json_is_one_object_a_line() -> None:
    entry = json.loads(JsonFormatter().format(_record("two\nlines")))

    assert entry["message"] == "two\nlines"
    assert entry["level"] == "INFO"


def test_json_keeps_the_traceback() -> None:
    try:
        raise ValueError("the token is tok-123456789")
    except ValueError:
        record = _record("It broke")
        record.exc_info = sys.exc_info()

    entry = json.loads(JsonFormatter(["tok-123456789"]).format(record))

    assert "ValueError: the token is [secret]" in entry["traceback"]


def test_what_the_environment_calls_a_key_is_struck_out() -> None:
    secrets = secrets_in({"OPENAI_API_KEY": "sk-abcdef", "HOME": "/home/ada"})

    line = TextFormatter(secrets).format(_record("Refused: sk-abcdef from /home/ada"))

    assert line.endswith("Refused: [secret] from /home/ada")


def test_the_password_of_an_address_is_struck_out_as_written_and_as_meant() -> None:
    secrets = secrets_in({"DATABASE_URL": "postgres://ada:p%40ssword@db/turnstone"})

    line = TextFormatter(secrets).format(_record("p%40ssword or p@ssword"))

    assert line.endswith("[secret] or [secret]")


def test_an_answer_with_an_error_status_but_no_traceback_is_left_to_the_access_log() -> None:
    assert not WithTraceback().filter(_record("Service Unavailable: /readyz", logging.ERROR))


def test_a_line_of_a_run_names_the_run_and_the_attempt() -> None:
    record = _record("It goes on")
    with working_on(12, 3):
        line = TextFormatter().format(record)
        entry = json.loads(JsonFormatter().format(record))

    assert line.endswith(" [run 12.3] chat.runs: It goes on")
    assert (entry["run"], entry["attempt"]) == (12, 3)


def test_a_line_of_no_run_names_none() -> None:
    with working_on(12, 3):
        pass
    record = _record("Nothing to do")

    assert "run" not in json.loads(JsonFormatter().format(record))
    assert TextFormatter().format(record).endswith("chat.runs: Nothing to do")


def test_a_thread_of_its_own_is_about_no_run() -> None:
    lines: list[str] = []
    with working_on(12, 3):
        thread = Thread(target=lambda: lines.append(TextFormatter().format(_record("Mine"))))
        thread.start()
        thread.join()

    assert "[run" not in lines[0]


@pytest.mark.parametrize("thread", ["MainThread", "tool-browser_goto"])
def test_json_names_the_thread(thread: str) -> None:
    record = _record("hello")
    record.threadName = thread

    assert json.loads(JsonFormatter().format(record))["thread"] == thread


HOSTILE = "of \x1b[31ma\nstranger\r\x9b2J\u2028\u202e"


def _traceback() -> logging.LogRecord:
    record = _record("It broke")
    try:
        raise ValueError(f"{HOSTILE}\n18:00:00 root: FAKE")
    except ValueError:
        record.exc_info = sys.exc_info()
    return record


def test_a_message_is_one_line_without_a_control_character() -> None:
    line = TextFormatter().format(_record(f"The words {HOSTILE}, über 10\u202f€"))

    assert line.endswith(r"The words of \x1b[31ma\nstranger\r\x9b2J\u2028\u202e, über 10\u202f€")


def test_the_lines_of_a_traceback_look_like_no_record() -> None:
    first, *others = TextFormatter().format(_traceback()).split("\n")

    assert first.endswith("chat.runs: It broke")
    assert others[0] == "  Traceback (most recent call last):"
    assert others[-1] == "  18:00:00 root: FAKE"
    assert all(line.startswith("  ") and line.isprintable() for line in others)


def test_json_shown_by_a_terminal_tells_it_nothing() -> None:
    line = JsonFormatter().format(_record(f"The words {HOSTILE}"))

    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in line)
    assert json.loads(line)["message"] == f"The words {HOSTILE}"
