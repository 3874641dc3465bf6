"""A tool is made of a typed function with a docstring."""

import pytest

from agents.control import Control
from agents.errors import ConfigurationError
from agents.tools.spec import Safety, tool


def test_a_function_becomes_a_tool() -> None:
    @tool(timeout=5, safety=Safety.SENSITIVE, idempotent=False)
    def send(to: str, copies: int = 1) -> str:
        """Send a letter."""
        return to * copies

    assert (send.name, send.description, send.timeout) == ("send", "Send a letter.", 5)
    assert (send.safety, send.idempotent, send.wants_control) == (Safety.SENSITIVE, False, False)
    assert send.schema["required"] == ["to"]
    assert send.schema["properties"]["copies"]["default"] == 1


def test_control_is_not_an_input() -> None:
    @tool()
    def wait(seconds: float, control: Control) -> str:
        """Wait."""
        control.wait(seconds)
        return ""

    assert wait.wants_control
    assert list(wait.schema["properties"]) == ["seconds"]


def test_a_tool_needs_a_docstring() -> None:
    def silent(text: str) -> str:
        return text

    with pytest.raises(ConfigurationError, match="'silent' needs a docstring"):
        tool()(silent)


def test_a_tool_needs_types() -> None:
    def vague(text) -> str:  # type: ignore[no-untyped-def]
        """Say it."""
        return str(text)

    with pytest.raises(ConfigurationError, match="must say the type of 'text'"):
        tool()(vague)


def test_a_tool_names_each_of_its_inputs() -> None:
    def loose(**words: str) -> str:
        """Take anything."""
        return str(words)

    with pytest.raises(ConfigurationError, match="must name each of its inputs"):
        tool()(loose)


def test_a_control_under_another_name_is_refused() -> None:
    def stray(run: Control) -> str:
        """Misname the control."""
        return str(run)

    with pytest.raises(ConfigurationError, match="must say `control: Control`"):
        tool()(stray)
