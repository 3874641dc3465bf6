"""An encyclopedia is searched and looked up in as in the ReAct paper."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.tools.spec import Tool
from agents.tools.web.address import Reach
from agents.tools.web.wikipedia import wikipedia_tools

TEXT = (
    "Ada Lovelace was a mathematician. She wrote notes (see Note G). Did she program? Yes! It ran "
    "in 1843. The sixth sentence names Babbage.\n\nLife\nBabbage was a friend. She died in 1852."
)


@pytest.fixture
def encyclopedia(site: Any) -> tuple[Tool, Tool]:
    """Speak the format of MediaWiki's API over one article, one disambiguation, some titles."""
    pages = {
        "Ada Lovelace": {"pageid": 1, "title": "Ada Lovelace", "extract": TEXT},
        "Ada": {
            "pageid": 2,
            "title": "Ada",
            "extract": "Many.",
            "pageprops": {"disambiguation": ""},
        },
    }

    def respond(asked: Any) -> tuple[int, dict[str, str], bytes]:
        if asked.query.get("list") == "search":
            titles = [] if "zzz" in asked.query["srsearch"] else [f"Ada {n}" for n in range(9)]
            body: Any = {"query": {"search": [{"title": title, "pageid": 3} for title in titles]}}
        else:
            title = asked.query["titles"]
            body = {"query": {"pages": [pages.get(title, {"title": title, "missing": True})]}}
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()

    return wikipedia_tools(site.answers("/w/api.php", respond), Reach())


def test_a_search_reads_the_first_five_sentences(
    encyclopedia: tuple[Tool, Tool], observe: Callable[..., Any], site: Any
) -> None:
    seen = observe(encyclopedia[0], {"entity": " Ada  Lovelace"})

    assert seen.observation.text == f"Ada Lovelace: {TEXT.partition(' The sixth')[0]}"
    assert site.log[0].headers["user-agent"].startswith("Turnstone/")


@pytest.mark.parametrize("entity", ["Ada", "ada byron"])
def test_a_search_for_no_one_article_gives_similar_titles(
    encyclopedia: tuple[Tool, Tool], observe: Callable[..., Any], entity: str
) -> None:
    seen = observe(encyclopedia[0], {"entity": entity})

    assert seen.observation.text == (
        f"Could not find {entity!r}. Similar: Ada 0; Ada 1; Ada 2; Ada 3; Ada 4."
    )


def test_a_search_for_nothing_says_so(
    encyclopedia: tuple[Tool, Tool], observe: Callable[..., Any]
) -> None:
    seen = observe(encyclopedia[0], {"entity": "zzz"})

    assert seen.observation.text == "Could not find 'zzz', nor anything similar."


def test_lookups_go_from_sentence_to_sentence_and_begin_anew_with_another_string(
    encyclopedia: tuple[Tool, Tool], observe: Callable[..., Any]
) -> None:
    search, lookup = encyclopedia
    observe(search, {"entity": "Ada Lovelace"})

    said = [
        observe(lookup, {"string": string}).observation.text
        for string in ("babbage", "Babbage", "Babbage", "1852", "babbage", "Turing")
    ]

    assert said == [
        "(Result 1 of 2) The sixth sentence names Babbage.",
        "(Result 2 of 2) Babbage was a friend.",
        "No more sentence with 'Babbage' in Ada Lovelace.",
        "(Result 1 of 1) She died in 1852.",
        "(Result 1 of 2) The sixth sentence names Babbage.",
        "No sentence with 'Turing' in Ada Lovelace.",
    ]


def test_a_lookup_needs_an_open_article(
    encyclopedia: tuple[Tool, Tool], observe: Callable[..., Any]
) -> None:
    search, lookup = encyclopedia
    before = observe(lookup, {"string": "x"}).observation
    observe(search, {"entity": "Ada Lovelace"})
    observe(search, {"entity": "zzz"})
    after = observe(lookup, {"string": "Babbage"}).observation

    assert before == after
    assert (before.error, "wikipedia_search first" in before.text) == ("ToolFailed", True)


@pytest.mark.parametrize("entity", ["", "  ", "a|b", "x" * 400])
def test_an_unfit_entity_is_refused(
    encyclopedia: tuple[Tool, Tool], observe: Callable[..., Any], site: Any, entity: str
) -> None:
    assert observe(encyclopedia[0], {"entity": entity}).observation.error == "ToolFailed"
    assert site.log == []


@pytest.mark.parametrize("body", ["<html>", "[]", "{}", '{"query": 5}', "null", "[" * 100_000])
def test_an_answer_of_another_shape_is_a_failure(
    site: Any, observe: Callable[..., Any], body: str
) -> None:
    search, _ = wikipedia_tools(site.says("/w/api.php", body), Reach())

    assert observe(search, {"entity": "Ada"}).observation.error == "ToolFailed"


def test_an_encyclopedia_that_fails_is_a_failure(site: Any, observe: Callable[..., Any]) -> None:
    search, _ = wikipedia_tools(site.says("/w/api.php", "{}", status=503), Reach())

    assert "answered 503" in observe(search, {"entity": "Ada"}).observation.text
