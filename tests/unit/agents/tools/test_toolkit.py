"""A toolkit finds, describes and checks its tools."""

from dataclasses import replace
from typing import Literal

import pytest

from agents.errors import ConfigurationError, InvalidInputs, ToolNotFound
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit


@tool()
def web_search(query: str, results: int = 3) -> str:
    """Search the web for pages."""
    return query * results


@tool()
def weather(city: str, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """Tell the weather of a city."""
    return f"{city} {unit}"


@tool()
def ping() -> str:
    """Answer at once."""
    return "pong"


@pytest.fixture
def toolkit() -> Toolkit:
    return Toolkit([web_search, weather, ping])


@pytest.mark.parametrize(
    "name",
    [
        *("web_search", "Web Search", "WEB_SEARCH", " web-search ", "`web_search`", '"web_search"'),
        *("[web_search]", "**web_search**", "web_search()", "web_search(query='x')", "web search."),
    ],
)
def test_a_tool_is_found_however_its_name_is_written(toolkit: Toolkit, name: str) -> None:
    found = toolkit.get(name)

    assert found is web_search


@pytest.mark.parametrize("name", ["nope", "", "web", "()", "web_search_2", "x" * 10_000])
def test_an_unknown_name_lists_the_tools_there_are(toolkit: Toolkit, name: str) -> None:
    with pytest.raises(ToolNotFound) as raised:
        toolkit.get(name)

    assert "Available tools: web_search, weather, ping." in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("name", ["web_search", "Web Search", "web-search"])
def test_a_taken_name_is_refused(toolkit: Toolkit, name: str) -> None:
    twin = Tool(name=name, description="", inputs=web_search.inputs, run=web_search.run)

    with pytest.raises(ConfigurationError, match="already registered"):
        toolkit.register(twin)


def test_what_is_no_tool_is_refused(toolkit: Toolkit) -> None:
    with pytest.raises(ConfigurationError, match="is not a Tool"):
        toolkit.register(print)  # type: ignore[arg-type]


def test_a_name_without_a_letter_is_refused(toolkit: Toolkit) -> None:
    nameless = Tool(name="``", description="", inputs=ping.inputs, run=ping.run)

    with pytest.raises(ConfigurationError, match="cannot be a tool's name"):
        toolkit.register(nameless)


def test_the_tools_keep_their_order(toolkit: Toolkit) -> None:
    assert toolkit.names == ("web_search", "weather", "ping")
    assert toolkit.tools == (web_search, weather, ping)


def test_a_search_puts_the_tool_first_that_shares_the_rarest_words(toolkit: Toolkit) -> None:
    assert toolkit.search("What is the weather in Oslo?")[0] is weather
    assert toolkit.search("look for pages on the web")[0] is web_search


def test_a_search_without_a_shared_word_still_offers_candidates(toolkit: Toolkit) -> None:
    assert toolkit.search("qwertz", limit=2) == [web_search, weather]


@pytest.mark.parametrize("limit", [0, -3])
def test_a_search_for_nothing_finds_nothing(toolkit: Toolkit, limit: int) -> None:
    assert toolkit.search("web", limit=limit) == []


def test_an_empty_toolkit_finds_nothing() -> None:
    assert Toolkit().search("web") == []


def test_a_description_tells_name_purpose_and_inputs(toolkit: Toolkit) -> None:
    text = toolkit.describe()

    assert "- web_search: Search the web for pages." in text
    assert "Inputs: query (string, required); results (integer, optional, default 3)" in text
    assert "unit (one of celsius, fahrenheit, optional, default" in text
    assert "- ping: Answer at once.\n  Inputs: none" in text


def test_a_description_can_be_of_some_tools(toolkit: Toolkit) -> None:
    assert toolkit.describe([ping]) == "- ping: Answer at once.\n  Inputs: none"


def test_inputs_that_fit_become_the_tools_own_types(toolkit: Toolkit) -> None:
    checked = toolkit.validate(web_search, {"query": "x", "results": "7"})

    assert checked == {"query": "x", "results": 7}


def test_every_wrong_input_is_named(toolkit: Toolkit) -> None:
    with pytest.raises(InvalidInputs) as raised:
        toolkit.validate(web_search, {"results": "many", "page": 1})

    message = str(raised.value)
    assert "Missing required input: query" in message
    assert "Unknown input: page" in message
    assert "results: Input should be a valid integer" in message
    assert "It takes: query (string, required)" in message


@pytest.mark.parametrize("value", [None, 5, ["x"], {}, True])
def test_a_string_input_takes_only_a_string(toolkit: Toolkit, value: object) -> None:
    with pytest.raises(InvalidInputs, match="query: Input should be a valid string"):
        toolkit.validate(web_search, {"query": value})


def test_a_closed_set_names_its_members(toolkit: Toolkit) -> None:
    with pytest.raises(InvalidInputs, match="unit: Input should be 'celsius' or 'fahrenheit'"):
        toolkit.validate(weather, {"city": "Oslo", "unit": "kelvin"})


def test_a_complaint_never_echoes_what_was_given(toolkit: Toolkit) -> None:
    inputs = {"query": ["secret" * 100_000]} | {f"{n}" * 500: n for n in range(500)}

    with pytest.raises(InvalidInputs) as raised:
        toolkit.validate(web_search, inputs)

    assert len(str(raised.value)) < 2_000
    assert "secret" not in str(raised.value)


def test_the_tools_can_be_replaced_while_a_policy_holds_the_toolkit(toolkit: Toolkit) -> None:
    toolkit.replace([ping])

    assert toolkit.names == ("ping",)
    with pytest.raises(ToolNotFound):
        toolkit.get("weather")


def test_a_bad_replacement_changes_nothing(toolkit: Toolkit) -> None:
    with pytest.raises(ConfigurationError):
        toolkit.replace([ping, ping])

    assert toolkit.names == ("web_search", "weather", "ping")


def holding(released: list[str]) -> tuple[Tool, Tool]:
    def release() -> None:
        released.append("released")

    return replace(ping, release=release), replace(weather, release=release)


def test_what_tools_hold_together_is_released_once_at_the_close() -> None:
    released: list[str] = []

    Toolkit(holding(released)).close()

    assert released == ["released"]


def test_what_a_replaced_tool_held_is_released() -> None:
    released: list[str] = []
    toolkit = Toolkit(holding(released))

    toolkit.replace([web_search])

    assert released == ["released"]


def test_a_release_that_fails_does_not_keep_the_others(caplog: pytest.LogCaptureFixture) -> None:
    released: list[str] = []

    def fail() -> None:
        raise OSError("no")

    Toolkit([replace(web_search, release=fail), *holding(released)]).close()

    assert released == ["released"]
    assert "could not be released" in caplog.text
