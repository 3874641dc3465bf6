"""The web is searched by SearXNG's interface, or by the public engines."""

import json
import re
import socket
from collections.abc import Callable
from typing import Any

import pytest

from agents.tools.web.search import ddgs, searxng, web_search_tool


def results(count: int) -> str:
    found = [
        {"title": f"T{n}", "url": f"https://example.org/{n}", "content": f"About\n {n}."}
        for n in range(count)
    ]
    return json.dumps({"query": "q", "number_of_results": count, "results": found, "answers": []})


def test_the_results_are_numbered_and_dated(site: Any, observe: Callable[..., Any]) -> None:
    site.says("/search", results(3), "application/json")

    text = observe(web_search_tool(searxng(site.url)), {"query": " tide  times "}).observation.text

    first, *rest = text.split("\n")
    assert re.fullmatch(r"Searched on \d{4}-\d\d-\d\d \d\d:\d\d UTC for 'tide times':", first)
    assert rest[:3] == ["1. T0", "   https://example.org/0", "   About 0."]
    assert site.log[0].query == {"q": "tide times", "format": "json"}


def test_no_more_results_are_told_than_asked_for(site: Any, observe: Callable[..., Any]) -> None:
    site.says("/search", results(30), "application/json")

    seen = observe(web_search_tool(searxng(site.url + "/")), {"query": "q", "results": 2})

    assert "2. T1" in seen.observation.text
    assert "3. T2" not in seen.observation.text


def test_no_result_is_told_plainly(site: Any, observe: Callable[..., Any]) -> None:
    site.says("/search", results(0), "application/json")

    seen = observe(web_search_tool(searxng(site.url)), {"query": "q"}).observation

    assert (seen.error, "nothing was found for 'q'" in seen.text) == (None, True)


def test_a_result_of_another_shape_is_passed_over(site: Any, observe: Callable[..., Any]) -> None:
    odd = [
        5,
        None,
        {},
        {"url": 5},
        {"url": "https://a.example", "title": None, "content": "x" * 999},
    ]
    site.says("/search", json.dumps({"results": odd}), "application/json")

    text = observe(web_search_tool(searxng(site.url)), {"query": "q"}).observation.text

    assert "1. (untitled)\n   https://a.example\n   xxx" in text
    assert len(text) < 700


@pytest.mark.parametrize(
    ("body", "status"), [("<html>", 200), ("[]", 200), ('{"results": 5}', 200), ("forbidden", 403)]
)
def test_a_server_that_does_not_answer_so_is_a_failure(
    site: Any, observe: Callable[..., Any], body: str, status: int
) -> None:
    site.says("/search", body, status=status)

    seen = observe(web_search_tool(searxng(site.url)), {"query": "q"})

    assert seen.observation.error == "ToolFailed"


@pytest.mark.parametrize("query", ["", " \n", "x" * 501])
def test_an_unfit_query_is_refused(site: Any, observe: Callable[..., Any], query: str) -> None:
    seen = observe(web_search_tool(searxng(site.url)), {"query": query})

    assert (seen.observation.error, site.log) == ("ToolFailed", [])


def test_engines_that_cannot_be_reached_are_a_failure_in_words(
    observe: Callable[..., Any],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    seen = observe(web_search_tool(ddgs(f"http://127.0.0.1:{port}")), {"query": "tide"})

    assert seen.observation.error == "ToolFailed"
    assert seen.observation.text.startswith("The search engines did not answer")
