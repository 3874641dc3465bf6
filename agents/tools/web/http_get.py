"""A tool that reads a page of the public web."""

from typing import Annotated

from pydantic import Field

from agents.control import Control
from agents.errors import ToolFailed
from agents.tools.spec import Safety, Tool, tool
from agents.tools.web.address import Reach
from agents.tools.web.fetch import FetchedPage, fetch
from agents.tools.web.page_text import decoded, page_text

_SHOWN = 20_000
_TEXTS = ("application/json", "application/xml", "application/javascript", "application/yaml")
_PAGES = ("text/html", "application/xhtml+xml")


def http_get_tool(reach: Reach) -> Tool:
    """Return the tool that reads pages within `reach`."""

    @tool(
        timeout=30,
        safety=Safety.MODERATE,
        reaches_out=True,
        doing="Reading a web page",
        may_repeat=True,
        reads_only=True,
    )
    def http_get(
        url: Annotated[str, Field(description="such as https://example.org/page")],
        control: Control,
        start: Annotated[int, Field(ge=0, description="character to go on from")] = 0,
    ) -> str:
        """Open a web page by its address and read it as text: fetch, get, visit, read a URL.

        A long page comes in parts; call again with `start` to go on.
        """
        page = fetch(url, reach, control)
        text = _text(page)
        if page.status >= 400:
            raise ToolFailed(f"The server answered {page.status}. {text[:500]}".strip())
        if not text.strip():
            return f"{page.url}\n\nThe page holds no text."
        return f"{page.url}\n\n{part(text, start, is_cut=page.is_cut)}"

    return http_get


def part(text: str, start: int, *, is_cut: bool = False) -> str:
    """Return as much of a long text as one observation should hold, and say how to go on."""
    if start >= len(text) > 0:
        raise ToolFailed(f"The text ends at character {len(text):,}.")
    shown = text[start : start + _SHOWN]
    end = start + len(shown)
    if end < len(text):
        return (
            f"{shown}\n\n[characters {start:,} to {end:,} of {len(text):,}; "
            f"call again with start={end} to go on]"
        )
    return f"{shown}\n\n[the page is longer; the rest was not fetched]" if is_cut else shown


def _text(page: FetchedPage) -> str:
    if page.kind in _PAGES or (not page.kind and page.body.lstrip()[:1] == b"<"):
        return page_text(page.body, page.charset, str(page.url))
    is_text = page.kind.startswith("text/") or page.kind.endswith(("+json", "+xml"))
    if is_text or page.kind in _TEXTS or not page.kind:
        return decoded(page.body, page.charset)
    if page.status >= 400:
        return ""
    raise ToolFailed(f"That is no page of text but {page.kind[:80]}, which cannot be read here.")
