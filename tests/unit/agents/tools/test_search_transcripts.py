"""Past turns are looked up for one user and told in numbered lines."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from agents.tools.search_transcripts import FoundTurn, search_transcripts_tool


def _turn(run: int, text: str = "it is 7") -> FoundTurn:
    when = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    return FoundTurn(run=run, turn=2, question="How many\nprimes?", text=text, when=when)


def test_what_was_found_is_numbered(observe: Callable[..., Any]) -> None:
    asked = []

    def find(query: str) -> Sequence[FoundTurn]:
        asked.append(query)
        return [_turn(12), _turn(9)]

    seen = observe(search_transcripts_tool(find), {"query": '  "primes"\n -even '})

    assert asked == ['"primes" -even']
    assert seen.observation.text.splitlines() == [
        "1. run 12, turn 2, 2026-02-28 23:30 UTC: How many primes?",
        "   it is 7",
        "2. run 9, turn 2, 2026-02-28 23:30 UTC: How many primes?",
        "   it is 7",
    ]


def test_nothing_found_is_said(observe: Callable[..., Any]) -> None:
    seen = observe(search_transcripts_tool(lambda _: []), {"query": "unicorns"})

    assert seen.observation.error is None
    assert seen.observation.text == (
        "Nothing was found for 'unicorns' in the earlier conversations."
    )


def test_only_the_best_are_shown_and_long_texts_are_cut(observe: Callable[..., Any]) -> None:
    found = [_turn(number, "x" * 100_000) for number in range(1, 500)]

    text = observe(search_transcripts_tool(lambda _: found), {"query": "x"}).observation.text

    assert text.count("run ") == 10
    assert len(text) < 5_000
    assert "xxx…" in text


@pytest.mark.parametrize("query", ["", " \n ", "x " * 1_000])
def test_an_unusable_query_is_refused(observe: Callable[..., Any], query: str) -> None:
    tool = search_transcripts_tool(lambda _: [_turn(1)])

    assert observe(tool, {"query": query}).observation.error == "ToolFailed"


def test_a_search_that_breaks_is_told_without_its_details(observe: Callable[..., Any]) -> None:
    def broken(query: str) -> Sequence[FoundTurn]:
        raise ConnectionError(f"password=hunter2 {query}")

    seen = observe(search_transcripts_tool(broken), {"query": "x"})

    assert seen.observation.error == "ToolFailed"
    assert "hunter2" not in seen.observation.text


def test_a_user_is_no_input() -> None:
    tool = search_transcripts_tool(lambda _: [])

    assert list(tool.schema["properties"]) == ["query"]
