"""Tools that read Wikipedia as in the ReAct paper: search an entity, look up a string in its page.

Yao et al. 2022, arXiv 2210.03629, section 3.1; over the API of MediaWiki.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from agents.control import Control
from agents.errors import ToolFailed
from agents.tools.spec import Tool, tool
from agents.tools.web.address import Reach
from agents.tools.web.fetch import fetch_json

WIKIPEDIA = "https://en.wikipedia.org/w/api.php"

_SENTENCES = 5
_SIMILAR = 5
_LENGTH = 300
_SHOWN = 4_000
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[^\Wa-z_])")


def wikipedia_tools(base_url: str, reach: Reach) -> tuple[Tool, Tool]:
    """Return the two tools of one run over the encyclopedia at `base_url`.

    They share the open page, so lookups go on in what the last search found.
    """
    page = _OpenPage()

    @tool(timeout=30, reaches_out=True, doing="Reading Wikipedia", may_repeat=True)
    def wikipedia_search(
        entity: Annotated[str, Field(description="a name or title, such as Alan Turing")],
        control: Control,
    ) -> str:
        """Search Wikipedia for a person, place, thing or idea and read how its article begins.

        Gives the first five sentences, or similar titles if there is no such article.
        """
        wanted = _asked(entity, "entity")
        title, text = _article(base_url, wanted, reach, control)
        if not text:
            page.close()
            return _instead(wanted, _similar(base_url, wanted, reach, control))
        page.open(title, _sentences(text))
        return f"{title}: {' '.join(page.sentences[:_SENTENCES])}"[:_SHOWN]

    @tool(timeout=5, brings_in=True, doing="Reading Wikipedia", may_repeat=True)
    def wikipedia_lookup(
        string: Annotated[str, Field(description="words to find in the article last searched")],
    ) -> str:
        """Find the next sentence with a string in it, in the Wikipedia article last searched."""
        return page.lookup(_asked(string, "string"))

    return wikipedia_search, wikipedia_lookup


@dataclass
class _OpenPage:
    """The article that the last search found, and how far a lookup has got in it."""

    title: str = ""
    sentences: Sequence[str] = ()
    _string: str = ""
    _found: list[str] = field(default_factory=list)
    _next: int = 0

    def open(self, title: str, sentences: Sequence[str]) -> None:
        self.title, self.sentences, self._string = title, sentences, ""

    def close(self) -> None:
        self.open("", ())

    def lookup(self, string: str) -> str:
        if not self.sentences:
            raise ToolFailed("No article is open: use wikipedia_search first.")
        if string.casefold() != self._string:
            self._string, self._next = string.casefold(), 0
            self._found = [s for s in self.sentences if self._string in s.casefold()]
        if self._next >= len(self._found):
            more = "more " if self._found else ""
            return f"No {more}sentence with {string!r} in {self.title}."
        sentence = self._found[self._next][:_SHOWN]
        self._next += 1
        return f"(Result {self._next} of {len(self._found)}) {sentence}"


def _asked(text: str, name: str) -> str:
    words = " ".join(text.split())
    if not words or len(words) > _LENGTH or "|" in words:
        raise ToolFailed(f"Give one {name} of 1 to {_LENGTH} characters.")
    return words


def _article(base_url: str, title: str, reach: Reach, control: Control) -> tuple[str, str]:
    """Return an article's own title and its plain text, empty if there is none of that title."""
    asked = {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "redirects": "1",
        "prop": "extracts|pageprops",
        "explaintext": "1",
        "exsectionformat": "plain",
        "ppprop": "disambiguation",
        "titles": title,
    }
    match fetch_json(base_url, asked, reach, control):
        case {"query": {"pages": [{"title": str(found), **page}, *_]}}:
            match page:
                case {"missing": _} | {"pageprops": {"disambiguation": _}}:
                    return found, ""
                case {"extract": str(text)}:
                    return found, text
            return found, ""
        case {"query": {}}:
            return title, ""
    raise ToolFailed("The encyclopedia answered in a way that is not its interface's.")


def _similar(base_url: str, words: str, reach: Reach, control: Control) -> list[str]:
    asked = {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "list": "search",
        "srlimit": str(_SIMILAR),
        "srsearch": words,
    }
    match fetch_json(base_url, asked, reach, control):
        case {"query": {"search": [*found]}}:
            return [title for title in map(_title, found) if title][:_SIMILAR]
    return []


def _title(found: Any) -> str:
    title = found.get("title") if isinstance(found, dict) else None
    return title[:_LENGTH] if isinstance(title, str) else ""


def _instead(wanted: str, similar: Sequence[str]) -> str:
    if not similar:
        return f"Could not find {wanted!r}, nor anything similar."
    return f"Could not find {wanted!r}. Similar: {'; '.join(similar)}."


def _sentences(text: str) -> list[str]:
    paragraphs = (line.strip() for line in text.split("\n"))
    return [sentence for line in paragraphs if line for sentence in _END.split(line)]
