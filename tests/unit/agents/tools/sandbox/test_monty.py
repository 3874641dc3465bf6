"""The fallback runs a part of Python and lets nothing out."""

from collections.abc import Callable

import pytest

from agents.control import Control
from agents.errors import Stopped, ToolFailed
from agents.tools.sandbox.monty import MontySandbox

Run = Callable[[str], str]


@pytest.fixture
def run() -> Run:
    quick = MontySandbox(seconds=1)
    return lambda code: "".join(quick.run(code, Control()))


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("25 * 47", "1175\n"),
        ("print('a')\nx = 6\nx * 7", "a\n42\n"),
        ("x = 6; x * 7", "42\n"),
        ("def f():\n    return [1,\n      2]\n\nf()  # the end", "[1, 2]\n"),
        ("'text'", "text\n"),
        ("x = 1", ""),
        ("None", ""),
        ("", ""),
        ("import datetime\nstr(datetime.date(2026, 12, 25))", "2026-12-25\n"),
    ],
)
def test_code_prints_and_a_bare_last_expression_is_printed(
    run: Run, code: str, printed: str
) -> None:
    assert run(code) == printed


def test_it_proves_itself(monty: MontySandbox) -> None:
    assert monty.prove() is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero (line 2)"),
        ("raise ValueError('no')", "ValueError: no (line 1)"),
        ("def f(:", "SyntaxError: "),
        ("open('/etc/passwd')", "PermissionError: "),
        ("open('x', 'w')", "PermissionError: "),
        ("import socket", "ModuleNotFoundError: "),
        ("import os\nos.environ", "RuntimeError: "),
        ("'x' * 10 ** 10", "MemoryError: "),
        ("def f():\n    f()\nf()", "RecursionError: "),
        ("import time\ntime.sleep(600)", "TimeoutError: "),
        ("while True:\n    pass", "TimeoutError: "),
        ("(" * 5_000, "Error executing code: "),
    ],
)
def test_an_error_is_told(run: Run, code: str, error: str) -> None:
    with pytest.raises(ToolFailed) as raised:
        run(code)

    assert str(raised.value).startswith("Error executing code: ")
    assert error in str(raised.value)


def test_what_was_printed_before_an_error_is_kept(monty: MontySandbox) -> None:
    pieces = monty.run("print('before')\n1 / 0", Control())

    assert next(pieces) == "before\n"
    with pytest.raises(ToolFailed):
        next(pieces)


def test_a_flood_of_output_ends(run: Run) -> None:
    with pytest.raises(ToolFailed):
        run("while True:\n    print('x' * 100_000)")


def test_it_works_again_after_every_failure(run: Run) -> None:
    for code in ("1 / 0", "'x' * 10 ** 10", "def f():\n    f()\nf()"):
        with pytest.raises(ToolFailed):
            run(code)

    assert run("6 * 7") == "42\n"


def test_a_halted_run_starts_nothing(monty: MontySandbox) -> None:
    control = Control()
    control.stop()

    with pytest.raises(Stopped):
        list(monty.run("print(1)", control))
