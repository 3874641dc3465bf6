"""arXiv is searched by words and author, and read by id; what it answers is not trusted."""

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape

import pytest

from agents.tools.spec import Tool
from agents.tools.web.address import Reach
from agents.tools.web.arxiv import arxiv_tools

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
      xmlns:arxiv="http://arxiv.org/schemas/atom">
  <title>arXiv Query</title><id>http://arxiv.org/api/abc</id>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  {entries}
</feed>"""

ENTRY = """<entry>
  <id>http://arxiv.org/abs/{id}</id>
  <title>On   Looms
    and Engines</title>
  <published>2021-03-04T10:00:00Z</published><updated>2022-05-06T10:00:00Z</updated>
  <summary>  {abstract}
  </summary>
  {authors}
  <arxiv:comment>12 pages</arxiv:comment><arxiv:doi>10.1000/1</arxiv:doi>
  <category term="cs.DS" scheme="http://arxiv.org/schemas/atom"/><category term="math.HO"/>
</entry>"""

ERROR = """<entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_1</id>
  <title>Error</title><summary>incorrect id format for 1</summary></entry>"""


def entry(id: str = "2103.00001v2", abstract: str = "We weave.", authors: int = 2) -> str:
    names = "".join(f"<author><name>Author {n}</name></author>" for n in range(1, authors + 1))
    return ENTRY.format(id=id, abstract=escape(abstract), authors=names)


def feed(*entries: str, total: object = 1) -> str:
    return FEED.format(total=total, entries="".join(entries))


@pytest.fixture
def arxiv(site: Any) -> Callable[..., tuple[Tool, Tool]]:
    """Serve an answer as arXiv would, on this machine."""

    def serve(body: str, status: int = 200) -> tuple[Tool, Tool]:
        address = site.says("/api/query", body, "application/atom+xml; charset=utf-8", status)
        return arxiv_tools(address, Reach())

    return serve


def test_papers_are_searched_by_words_and_author(
    arxiv: Callable[..., tuple[Tool, Tool]], observe: Callable[..., Any], site: Any
) -> None:
    search, _ = arxiv(feed(entry(authors=8), entry("hep-th/9901001v1"), total=1234))

    inputs = {"words": "weaving AND (looms)", "author": 'Ada "Lovelace"', "results": 2}
    seen = observe(search, inputs).observation

    assert seen.error is None
    assert seen.text.startswith(
        "2 of 1,234 papers:\n\n1. On Looms and Engines\n"
        "2103.00001v2 (2021-03-04, revised 2022-05-06; cs.DS, math.HO) "
        "https://arxiv.org/abs/2103.00001v2\n"
    )
    assert "Author 6 and 2 more\nWe weave." in seen.text
    assert "https://arxiv.org/abs/hep-th/9901001v1" in seen.text
    assert site.log[0].query == {
        "search_query": 'all:weaving AND all:looms AND au:"Ada Lovelace"',
        "max_results": "2",
        "sortBy": "relevance",
    }


def test_a_long_abstract_is_told_in_short_when_searched_and_whole_when_read(
    arxiv: Callable[..., tuple[Tool, Tool]], observe: Callable[..., Any]
) -> None:
    abstract = "word " * 400
    search, read = arxiv(feed(entry(abstract=abstract, authors=8)))

    short = observe(search, {"words": "looms"}).observation.text
    whole = observe(read, {"id": "2103.00001"}).observation.text

    assert (short.count("word"), short.endswith("word …")) == (120, True)
    assert whole.count("word") == 400
    assert "Authors: Author 1, " in whole
    assert "Author 8\nComment: 12 pages\nDOI: 10.1000/1" in whole


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("1706.03762", "1706.03762"),
        (" arXiv:1706.03762v7", "1706.03762v7"),
        ("https://arxiv.org/abs/hep-th/9901001", "hep-th/9901001"),
        ("https://arxiv.org/pdf/2103.00001v2.pdf", "2103.00001v2"),
        ("math.GT/0309136", "math.gt/0309136"),
    ],
)
def test_an_id_is_taken_as_people_write_it(
    arxiv: Callable[..., tuple[Tool, Tool]],
    observe: Callable[..., Any],
    site: Any,
    given: str,
    asked: str,
) -> None:
    _, read = arxiv(feed(entry()))

    assert observe(read, {"id": given}).observation.error is None
    assert site.log[0].query == {"id_list": asked}


@pytest.mark.parametrize("given", ["", "attention", "1706.03762&x=1", "12.3", "1706.03762 OR 1"])
def test_what_is_no_id_is_not_asked_for(
    arxiv: Callable[..., tuple[Tool, Tool]], observe: Callable[..., Any], site: Any, given: str
) -> None:
    _, read = arxiv(feed(entry()))

    assert "is no id of arXiv" in observe(read, {"id": given}).observation.text
    assert site.log == []


@pytest.mark.parametrize("inputs", [{}, {"words": "AND ()"}, {"author": ' "" '}])
def test_a_search_for_nothing_is_not_asked_for(
    arxiv: Callable[..., tuple[Tool, Tool]],
    observe: Callable[..., Any],
    site: Any,
    inputs: dict[str, str],
) -> None:
    search, _ = arxiv(feed(entry()))

    assert observe(search, inputs).observation.text == "Give words to search for, or an author."
    assert site.log == []


def test_no_paper_is_a_result_of_a_search_and_an_error_of_reading(
    arxiv: Callable[..., tuple[Tool, Tool]], observe: Callable[..., Any]
) -> None:
    search, read = arxiv(feed(total=0))

    assert observe(search, {"words": "zzz"}).observation.text == "arXiv has no paper that fits."
    missing = observe(read, {"id": "9999.99999"}).observation
    assert (missing.text, missing.error) == ("arXiv has no paper 9999.99999.", "ToolFailed")


BOMB = """<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>
<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/1</id>
<title>&b;</title></entry></feed>"""
LEAK = BOMB.replace('"aaaaaaaaaa"', 'SYSTEM "file:///etc/passwd"')


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (feed(ERROR), 400, "arXiv refuses this: incorrect id format for 1"),
        (feed(ERROR), 200, "arXiv refuses this: incorrect id format for 1"),
        ("Rate exceeded.", 429, "arXiv asks for patience: try again in a few seconds."),
        ("down", 503, "arXiv asks for patience: try again in a few seconds."),
        ("<html>broken", 500, "arXiv answered 500; try again later."),
        ("<html><body>hi</body></html>", 200, "in a way that is not its interface's."),
        ("", 200, "in a way that is not its interface's."),
        (feed(entry())[:400], 200, "in a way that is not its interface's."),
        (BOMB, 200, "in a way that is not its interface's."),
        (LEAK, 200, "in a way that is not its interface's."),
        (feed(entry(abstract="x" * 2_000_000)), 200, "more than can be read"),
    ],
)
def test_what_goes_wrong_is_said_as_it_is(
    arxiv: Callable[..., tuple[Tool, Tool]],
    observe: Callable[..., Any],
    body: str,
    status: int,
    said: str,
) -> None:
    search, _ = arxiv(body, status)

    seen = observe(search, {"words": "looms"}).observation

    assert seen.error == "ToolFailed"
    assert said in seen.text


def test_a_count_that_is_no_number_is_left_out(
    arxiv: Callable[..., tuple[Tool, Tool]], observe: Callable[..., Any]
) -> None:
    search, _ = arxiv(feed(entry(), total="many"))

    assert observe(search, {"words": "looms"}).observation.text.startswith("1 of 1 papers:")


def test_both_tools_reach_out(arxiv: Callable[..., tuple[Tool, Tool]]) -> None:
    assert all(tool.reaches_out for tool in arxiv(feed()))
