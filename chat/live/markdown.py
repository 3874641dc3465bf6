"""Markdown made into HTML that is safe to show, whoever wrote it.

Three walls: the parser knows no HTML (`html` off), code is coloured from escaped text, and nh3
lets through only what the parser makes. Nothing remote is loaded: an image becomes a link to it.
"""

from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

LONGEST = 50_000
"""Characters that are parsed; longer text is shown plainly, for parsing may take for ever."""

LONGEST_CODE = 20_000
"""Characters of one block of code that are coloured."""

DEEPEST = 60
"""Levels of lists and quotes that are parsed; the parser would drop what lies deeper."""

_LANGUAGES = """
    bash c console cpp css csharp diff django docker go html http ini java javascript js json jsx
    kotlin lua make markdown md nginx php postgres powershell py pycon python r rb ruby rust scala
    sh shell sql swift toml ts tsx typescript xml yaml yml
"""
_TAGS = """
    a blockquote br code del div em h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead
    tr ul
"""
_ATTRIBUTES: dict[str, set[str]] = {
    "a": {"href", "title"},
    "ol": {"start"},
    **{tag: {"class"} for tag in ("code", "p", "span", "td", "th")},
    "div": {"class", "tabindex"},
    "pre": {"class", "tabindex"},
}
_Environment = MutableMapping[str, Any]


def render_markdown(text: str) -> SafeString:
    """Return `text` as safe HTML; headings begin at the third level, below the page's own."""
    html = _parsed(text) or _plain(text)
    return mark_safe(  # noqa: S308 - nh3 has just cleaned it
        nh3.clean(
            html,
            tags=set(_TAGS.split()),
            attributes=_ATTRIBUTES,
            url_schemes={"http", "https", "mailto"},
            url_relative="deny",
            link_rel="noopener noreferrer nofollow",
            set_tag_attribute_values={"a": {"target": "_blank"}},
        )
    )


def _parsed(text: str) -> str:
    """Return the HTML, empty for text that the parser would not show in full or in good time."""
    if len(text) > LONGEST:
        return ""
    environment: _Environment = {}
    tokens = _parser.parse(text, environment)
    if any(token.level >= DEEPEST - 1 for token in tokens):
        return ""
    return str(_parser.renderer.render(tokens, _parser.options, environment))


class _Renderer(RendererHTML):
    """Markdown-it's renderer without images, inline styles and uncoloured code."""

    def image(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        source = str(tokens[index].attrGet("src") or "")
        label = f"Image: {tokens[index].content or source}"
        if not source.startswith(("http://", "https://")):
            return escape(label)
        return f'<a href="{escape(source)}">{escape(label)}</a>'

    def fence(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        words = tokens[index].info.split(maxsplit=1)
        return _code(tokens[index].content, words[0].lower() if words else "")

    def code_block(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        return _code(tokens[index].content, "")

    def table_open(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        return '<div class="prose__table" tabindex="0"><table>'

    def table_close(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        return "</table></div>"


def _code(text: str, language: str) -> str:
    coloured = escape(text)
    if language in _LANGUAGES.split() and len(text) <= LONGEST_CODE:
        try:
            lexer = get_lexer_by_name(language, stripnl=False)
            coloured = highlight(text, lexer, HtmlFormatter(nowrap=True))
        except ClassNotFound:
            pass
    return f'<pre class="code" tabindex="0"><code>{coloured}</code></pre>'


def _plain(text: str) -> str:
    return f'<p class="prose__plain">{escape(text)}</p>'


def _suit_the_page(state: StateCore) -> None:
    """Lower the headings by two levels and turn the cells' inline styles into classes."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        elif token.type in ("th_open", "td_open") and "style" in token.attrs:
            side = str(token.attrs.pop("style")).rpartition(":")[2]
            token.attrs["class"] = f"prose__cell--{side}"


_parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}, renderer_cls=_Renderer)
_parser.enable(["table", "strikethrough"])
_parser.core.ruler.push("suit_the_page", _suit_the_page)
