"""Who sends a request chooses words of the log, and not its lines, nor what a terminal does."""

from collections.abc import Callable

import pytest

from project.local.terminal import Terminal
from tests.integration.web_process import Web

FORGED = "18:00:00 root: FAKE LOG LINE"
PATH = "/x%0a18:00:00%20root:%20FAKE%20LOG%20LINE%1b[31mRED%0d%0a%C2%9b31m%E2%80%AE"


def test_an_address_makes_one_line_of_the_log_and_turns_no_terminal_red(
    web: Web, wait_for: Callable[..., None]
) -> None:
    web.get(PATH)
    wait_for(lambda: "FAKE" in web.log(), "the request in the log")

    lines = [line for line in web.log().split("\n") if "FAKE" in line]
    assert len(lines) == 1
    assert lines[0].endswith(
        rf"turnstone.access: GET /x\n{FORGED}\x1b[31mRED\r\n\x9b31m\u202e 404, "
        + lines[0].rpartition(", ")[2]
    )
    assert "\x1b" not in web.log()


def test_what_a_process_writes_reaches_the_terminal_as_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Terminal(when_gone=lambda: None).say("web", "one\x1b[2J\r two\x07\tthree")

    assert capsys.readouterr().out == "web      | one\\x1b[2J\\r two\\x07\tthree\n"
