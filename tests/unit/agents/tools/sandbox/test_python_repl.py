"""The Python tool runs a snippet in either sandbox and tells what came of it."""

from collections.abc import Callable
from typing import Any

import psutil
import pytest

from agents.contracts import ToolCall
from agents.control import Control
from agents.errors import Stopped
from agents.tools.output import LIMIT
from agents.tools.python_repl import python_repl_tool
from agents.tools.sandbox.bubblewrap import Bubblewrap
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit


@pytest.fixture(params=["bubblewrap", "monty"])
def python_repl(request: pytest.FixtureRequest) -> Tool:
    return python_repl_tool(request.getfixturevalue(request.param))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("25 * 47", "1175\n"),
        ("```python\nprint(25*47)\n```", "1175\n"),
        ("```\nprint(25*47)```", "1175\n"),
        ("print('a')\nprint('b')", "a\nb\n"),
        ("x = 1", "Code executed successfully."),
        ("# only a comment", "Code executed successfully."),
    ],
)
def test_a_snippet_tells_what_it_printed(
    observe: Callable[..., Any], python_repl: Tool, code: str, text: str
) -> None:
    seen = observe(python_repl, {"code": code})

    assert (seen.observation.text, seen.observation.error) == (text, None)


def test_an_error_is_told_after_what_was_printed(
    observe: Callable[..., Any], python_repl: Tool
) -> None:
    seen = observe(python_repl, {"code": "print('so far')\nraise ValueError('no further')"})

    assert seen.observation.error == "ToolFailed"
    assert seen.observation.text.startswith(
        "so far\n\nError executing code: ValueError: no further"
    )


def test_an_error_alone_begins_with_its_label(
    observe: Callable[..., Any], python_repl: Tool
) -> None:
    seen = observe(python_repl, {"code": "undefined"})

    assert seen.observation.text.startswith("Error executing code: NameError: ")


@pytest.mark.parametrize("code", ["", "  \n", "```python\n```", "x" * 100_001])
def test_no_code_and_too_much_code_are_refused(
    observe: Callable[..., Any], python_repl: Tool, code: str
) -> None:
    assert observe(python_repl, {"code": code}).observation.error == "ToolFailed"


def test_a_long_output_is_cut_in_the_middle(observe: Callable[..., Any], python_repl: Tool) -> None:
    seen = observe(python_repl, {"code": "print('<' + 'x' * 3_000_000 + '>')"})

    assert len(seen.observation.text) <= LIMIT
    assert seen.observation.text.startswith("<x")
    assert seen.observation.text.endswith("x>\n")


def test_nothing_is_kept_between_two_snippets(
    observe: Callable[..., Any], python_repl: Tool
) -> None:
    observe(python_repl, {"code": "kept = 1"})

    assert "NameError" in observe(python_repl, {"code": "kept"}).observation.text


def test_the_model_is_told_what_the_sandbox_provides(python_repl: Tool) -> None:
    assert "network" in python_repl.description


def test_a_stop_kills_the_snippet(
    bubblewrap: Bubblewrap,
    inmates: Callable[[], list[psutil.Process]],
    wait_for: Callable[..., None],
) -> None:
    control = Control()
    call = ToolCall(tool="python_repl", inputs={"code": "print('up')\nwhile True:\n    pass"})
    events = Toolkit([python_repl_tool(bubblewrap)]).call(call, control)
    assert next(events).text == "up\n"
    assert inmates()
    control.stop()

    with pytest.raises(Stopped):
        next(events)
    wait_for(lambda: not inmates(), "the end of the snippet")
