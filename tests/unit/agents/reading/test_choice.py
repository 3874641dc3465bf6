"""The choice of a tool, in the ways that models write it."""

import pytest

from agents.reading.structured.choice import read_choice

NAMES = ("web_search", "tides", "ferry")


@pytest.mark.parametrize(
    "reply",
    [
        "web_search",
        "Web Search",
        "web-search",
        "1. web_search",
        "web_search: 95",
        "**web_search** (95)",
        "tides: 20\nweb_search: 85/100\nferry: 5",
        "tides: 90\nweb_search: 40\n\nweb_search",
        '{"tool": "web_search"}',
        "<think>tides?</think>\n`web_search`",
    ],
)
def test_the_tool_is_chosen_however_its_name_is_written(reply: str) -> None:
    assert read_choice(reply, NAMES) == "web_search"


@pytest.mark.parametrize("reply", ["none", "None.", "", "<think>web_search</think>none"])
def test_no_tool_may_be_chosen(reply: str) -> None:
    assert read_choice(reply, NAMES) == ""


def test_a_name_that_nobody_has_is_kept_to_be_refused() -> None:
    assert read_choice("sextant", NAMES) == "sextant"
