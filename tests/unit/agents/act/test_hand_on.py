"""Extras: what one call hands to the very next that succeeds, and to nobody else."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.compat.hand_on import ExtrasAct
from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.errors import ConfigurationError, ToolFailed
from agents.tools.attachments import Extras, Handed
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit


class Rich:
    """Something that no JSON can hold."""


RICH = Rich()


@tool()
def load(name: str) -> Handed:
    """Load a table."""
    return Handed(f"loaded {name}", {"table": RICH, "size": 3})


@tool()
def stream() -> Handed:
    """Load a table piece by piece."""
    left: dict[str, Any] = {}

    def pieces() -> Iterator[str]:
        yield "one "
        left["table"] = RICH
        yield "two"

    return Handed(pieces(), left)


@tool()
def show(size: int, extras: Extras) -> str:
    """Show a table."""
    return f"{size} {extras.get('table') is RICH} {sorted(extras)}"


def flaky() -> Tool:
    tries: list[int] = []

    @tool()
    def flaky(extras: Extras) -> str:
        """Fail the first time."""
        tries.append(1)
        if len(tries) == 1:
            raise ToolFailed(f"saw {sorted(extras)}")
        return f"saw {sorted(extras)}"

    return flaky


def call(kit: ExtrasAct | Toolkit, tool: str, /, **inputs: Any) -> Observation:
    observed: list[Observation] = []

    def steps() -> Iterator[object]:
        observed.append((yield from kit.call(ToolCall(tool=tool, inputs=inputs), Control())))

    assert all(steps())
    return observed[0]


@pytest.fixture
def kit() -> ExtrasAct:
    return ExtrasAct(Toolkit([load, stream, show, flaky()]))


def test_the_next_call_gets_the_extras_in_place_of_equal_inputs(kit: ExtrasAct) -> None:
    call(kit, "load", name="x")

    assert call(kit, "show", size=1).text == "3 True ['size', 'table']"


def test_what_a_person_was_asked_about_is_called_as_it_was_shown() -> None:
    kit = ExtrasAct(Toolkit([load, show]), lambda tool: tool.name == "show")
    call(kit, "load", name="x")

    assert call(kit, "show", size=1).text == "1 True ['size', 'table']"


def test_the_call_after_the_next_gets_nothing(kit: ExtrasAct) -> None:
    call(kit, "load", name="x")
    call(kit, "show", size=1)

    assert call(kit, "show", size=1).text == "1 False []"


def test_a_call_that_fails_leaves_the_extras_to_the_next(kit: ExtrasAct) -> None:
    call(kit, "load", name="x")

    assert call(kit, "flaky").text == "saw ['size', 'table']"
    assert call(kit, "flaky").text == "saw ['size', 'table']"


@pytest.mark.parametrize(("name", "inputs"), [("ghost", {}), ("show", {"size": "many"})])
def test_a_call_that_cannot_be_made_leaves_them_too(
    kit: ExtrasAct, name: str, inputs: dict[str, Any]
) -> None:
    call(kit, "load", name="x")

    assert call(kit, name, **inputs).error is not None
    assert call(kit, "show", size=1).text == "3 True ['size', 'table']"


def test_a_streaming_tool_hands_on_what_it_had_in_the_end(kit: ExtrasAct) -> None:
    assert call(kit, "stream").text == "one two"

    assert call(kit, "show", size=1).text == "1 True ['table']"


def test_one_run_sees_nothing_of_another() -> None:
    tools = Toolkit([load, show])
    mine, yours = ExtrasAct(tools), ExtrasAct(tools)

    call(mine, "load", name="x")

    assert call(yours, "show", size=1).text == "1 False []"


def test_extras_are_in_no_observation_and_no_representation(kit: ExtrasAct) -> None:
    observation = call(kit, "load", name="x")

    assert observation == Observation(text="loaded x")
    assert "Rich" not in repr(kit)


def test_where_nothing_is_handed_on_the_same_tools_work() -> None:
    tools = Toolkit([load, show])

    assert call(tools, "load", name="x").text == "loaded x"
    assert call(tools, "show", size=1).text == "1 False []"


def test_extras_are_no_input_that_a_model_could_write() -> None:
    assert show.input_names == ("size",)


def test_a_tool_must_say_what_its_extras_are() -> None:
    with pytest.raises(ConfigurationError, match="extras: Extras"):

        @tool()
        def wrong(extras: str) -> str:
            """Do it."""
            return extras
