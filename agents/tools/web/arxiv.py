"""Tools that search arXiv and read a paper's entry, over its Atom interface.

https://info.arxiv.org/help/api/user-manual.html
"""

import re
from typing import Annotated

import httpx2
from pydantic import Field

from agents.control import Control
from agents.errors import ToolFailed
from agents.tools.spec import Tool, tool
from agents.tools.web.address import Reach, web_url
from agents.tools.web.arxiv_feed import Paper, read_feed
from agents.tools.web.fetch import fetch

ARXIV = "https://export.arxiv.org/api/query"

_MOST = 20
_LENGTH = 300
_AUTHORS, _ABSTRACT = 6, 600
_WORD = re.compile(r"\w+(?:[-.']\w+)*")
_OPERATORS = frozenset({"AND", "OR", "ANDNOT"})
_ID = re.compile(
    r"(?:arxiv:\s*|https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/)?"
    r"(\d{4}\.\d{4,5}(?:v\d{1,3})?|[a-z-]+(?:\.[a-z]{2})?/\d{7}(?:v\d{1,3})?)(?:\.pdf)?",
    re.IGNORECASE,
)


def arxiv_tools(base_url: str, reach: Reach) -> tuple[Tool, Tool]:
    """Return the two tools over the interface at `base_url`."""

    @tool(timeout=40, reaches_out=True, doing="Searching arXiv", may_repeat=True)
    def arxiv_search(
        control: Control,
        words: Annotated[str, Field(description="words of title or abstract")] = "",
        author: Annotated[str, Field(description="a name, such as Ada Lovelace")] = "",
        results: Annotated[int, Field(ge=1, le=_MOST)] = 5,
    ) -> str:
        """Search arXiv for scientific papers by words, by author, or by both.

        Gives title, authors, date, the beginning of the abstract and the id of each.
        """
        query = {"search_query": _query(words, author), "max_results": str(results)}
        papers, total = _asked(base_url, query | {"sortBy": "relevance"}, reach, control)
        if not papers:
            return "arXiv has no paper that fits."
        listed = [_in_short(number, paper) for number, paper in enumerate(papers[:results], 1)]
        return "\n\n".join([f"{len(listed)} of {total:,} papers:", *listed])

    @tool(timeout=40, reaches_out=True, doing="Reading arXiv", may_repeat=True)
    def arxiv_read(
        id: Annotated[str, Field(description="such as 1706.03762, or the paper's address")],
        control: Control,
    ) -> str:
        """Read the entry of one paper on arXiv by its id: all authors and the whole abstract."""
        found = _ID.fullmatch(id.strip())
        if found is None:
            raise ToolFailed(f"{id[:80]!r} is no id of arXiv; one is 1706.03762 or hep-th/9901001.")
        papers, _ = _asked(base_url, {"id_list": found[1].lower()}, reach, control)
        if not papers:
            raise ToolFailed(f"arXiv has no paper {found[1]}.")
        return _in_full(papers[0])

    return arxiv_search, arxiv_read


def _query(words: str, author: str) -> str:
    """Return what arXiv is asked: each word anywhere, and the author's name as it is written."""
    if len(words) > _LENGTH or len(author) > _LENGTH:
        raise ToolFailed(f"Give at most {_LENGTH} characters of words, and of an author.")
    terms = [f"all:{word}" for word in _WORD.findall(words) if word not in _OPERATORS]
    if name := " ".join(_WORD.findall(author)):
        terms.append(f'au:"{name}"')
    if not terms:
        raise ToolFailed("Give words to search for, or an author.")
    return " AND ".join(terms)


def _asked(
    base: str, query: dict[str, str], reach: Reach, control: Control
) -> tuple[list[Paper], int]:
    """Return the papers that arXiv answers with, and how many there are in all."""
    url = web_url(base).copy_merge_params(query)
    page = fetch(str(url), reach.also(base), control, headers={"Accept": "application/atom+xml"})
    if page.status in (429, 503):
        raise ToolFailed("arXiv asks for patience: try again in a few seconds.")
    if page.is_cut:
        raise ToolFailed("arXiv answered with more than can be read; ask for fewer results.")
    feed = read_feed(page.body)
    if feed is not None and feed.error:
        raise ToolFailed(f"arXiv refuses this: {feed.error}")
    if page.status != httpx2.codes.OK:
        raise ToolFailed(f"arXiv answered {page.status}; try again later.")
    if feed is None:
        raise ToolFailed("arXiv answered in a way that is not its interface's.")
    return feed.papers, max(feed.total, len(feed.papers))


def _in_short(number: int, paper: Paper) -> str:
    more = len(paper.authors) - _AUTHORS
    authors = ", ".join(paper.authors[:_AUTHORS]) + (f" and {more} more" if more > 0 else "")
    abstract = paper.abstract
    if len(abstract) > _ABSTRACT:
        abstract = abstract[:_ABSTRACT].rsplit(" ", 1)[0] + " …"
    return f"{number}. {paper.title}\n{_facts(paper)}\n{authors}\n{abstract}"


def _in_full(paper: Paper) -> str:
    beside = {
        "Authors": ", ".join(paper.authors),
        "Comment": paper.comment,
        "Journal": paper.journal,
        "DOI": paper.doi,
    }
    lines = [f"{name}: {text}" for name, text in beside.items() if text]
    return "\n".join([paper.title, _facts(paper), *lines, "", paper.abstract])


def _facts(paper: Paper) -> str:
    dates = paper.published
    if paper.updated != paper.published:
        dates += f", revised {paper.updated}"
    return f"{paper.id} ({dates}; {', '.join(paper.subjects)}) https://arxiv.org/abs/{paper.id}"
