"""A tool that searches the web, by a SearXNG server or by the engines that ddgs knows."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from agents.contracts import Value
from agents.control import Control
from agents.errors import ToolFailed
from agents.tools.spec import Safety, Tool, tool
from agents.tools.web.address import Reach
from agents.tools.web.fetch import fetch_json

_QUERY = 500
_SNIPPET = 500
_ENGINE_SECONDS = 10


class Hit(Value):
    """One result of a search."""

    title: str
    url: str
    snippet: str


Search = Callable[[str, int, Control], Iterable[Hit]]
"""Search for a query, for at most so many hits, within a Control; raises ToolFailed."""


def web_search_tool(search: Search) -> Tool:
    """Return the tool over one way to search."""

    @tool(
        timeout=40,
        safety=Safety.MODERATE,
        reaches_out=True,
        doing="Searching the web",
        may_repeat=True,
        reads_only=True,
    )
    def web_search(
        query: Annotated[str, Field(description="what one would type into a search engine")],
        control: Control,
        results: Annotated[int, Field(ge=1, le=10)] = 5,
    ) -> str:
        """Search the web, the internet, for current facts, news, pages and their addresses."""
        words = " ".join(query.split())
        if not words or len(words) > _QUERY:
            raise ToolFailed(f"Give a query of 1 to {_QUERY} characters.")
        found = list(search(words, results, control))[:results]
        stamp = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        if not found:
            return f"Searched on {stamp}: nothing was found for {words!r}."
        lines = (_lines(number, hit) for number, hit in enumerate(found, 1))
        return f"Searched on {stamp} for {words!r}:\n" + "\n".join(lines)

    return web_search


def searxng(base_url: str) -> Search:
    """Return the search by a SearXNG server, whose JSON format must be enabled."""
    address = f"{base_url.rstrip('/')}/search"

    def search(query: str, most: int, control: Control) -> list[Hit]:
        answer = fetch_json(address, {"q": query, "format": "json"}, Reach(), control)
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise ToolFailed("The search server's answer holds no results.")
        hits = [_hit(result, "url", "content") for result in results if isinstance(result, dict)]
        return [hit for hit in hits if hit.url][:most]

    return search


def ddgs(proxy: str | None = None) -> Search:
    """Return the search by the public engines, through `proxy` if one is given."""

    def search(query: str, most: int, control: Control) -> list[Hit]:
        from ddgs import DDGS  # heavy, and needed only where no SearXNG is set up
        from ddgs.exceptions import DDGSException

        try:
            found = DDGS(proxy=proxy, timeout=_ENGINE_SECONDS).text(query, max_results=most)
        except DDGSException as error:
            if "No results" in str(error):
                return []
            kind = type(error).__name__
            raise ToolFailed(f"The search engines did not answer ({kind}); try later.") from None
        return [_hit(result, "href", "body") for result in found]

    return search


def _hit(result: Mapping[str, Any], url: str, snippet: str) -> Hit:
    return Hit(
        title=_line(result.get("title")),
        url=_line(result.get(url)),
        snippet=_line(result.get(snippet)),
    )


def _line(text: Any) -> str:
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return line if len(line) <= _SNIPPET else line[: _SNIPPET - 1] + "…"


def _lines(number: int, hit: Hit) -> str:
    return f"{number}. {hit.title or '(untitled)'}\n   {hit.url}\n   {hit.snippet}".rstrip()
