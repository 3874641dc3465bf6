"""Policies name their tools; the catalogue builds them."""

import inspect

import pytest

from agents.errors import ConfigurationError
from agents.tools.catalogue import TOOLS, not_offered, offered, toolkit


def test_every_tool_is_offered_unless_the_machine_cannot() -> None:
    assert set(offered(lambda _: []).names) == TOOLS.keys() - not_offered().keys()


def test_a_policy_gets_the_tools_it_names_in_its_order() -> None:
    kit = toolkit(["current_time", "calculator"], find_turns=lambda _: [])

    assert kit.names == ("current_time", "calculator")


def test_every_tool_goes_by_its_name_in_the_catalogue() -> None:
    for name, build in TOOLS.items():
        tool = build(lambda _: [])
        assert tool is None or tool.name == name


def test_every_tool_tells_what_it_is_for_and_limits_its_time() -> None:
    for tool in offered(lambda _: []).tools:
        assert len(inspect.cleandoc(tool.description)) > 40
        assert 0 < tool.timeout <= 60
        assert tool.schema["additionalProperties"] is False


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="There is no tool 'nope'; there are calculator"):
        toolkit(["nope"], find_turns=lambda _: [])


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="already registered"):
        toolkit(["calculator", "calculator"], find_turns=lambda _: [])


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Compute 37 * 43 + 12", "calculator"),
        ("Run this Python code and return what it prints", "python_repl"),
        ("Convert 5 miles to km", "convert_units"),
        ("What is the current date and time in Tokyo?", "current_time"),
        ("Search the earlier conversations for primes", "search_transcripts"),
    ],
)
def test_a_plain_request_finds_its_tool_first(query: str, first: str) -> None:
    assert offered(lambda _: []).search(query)[0].name == first
