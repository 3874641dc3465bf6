"""The parser of answers: CommonMark with tables, and what answers need besides; bounded in work.

The page's preview (`static/js/markdown/parsing.js`) is put together the same way, rule by rule.
"""

import re
from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from chat.stream.markdown.code import Colours, code_block
from chat.stream.markdown.formulas import formula, formula_block, keep_thin_space
from chat.stream.markdown.links import bare_link, images_as_links, mark_links
from chat.stream.markdown.shape import align_cells, lower_headings, mark_tasks
from chat.stream.markdown.work import TooMuchWork, spend

LONGEST = 50_000
"""Characters that are parsed; longer text is shown plainly, for parsing may take for ever."""

DEEPEST = 60
"""Levels of lists and quotes that are parsed; the parser would drop what lies deeper."""

_SAFE = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_EVERYWHERE: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}

_Environment = MutableMapping[str, Any]


def html_of(text: str) -> str:
    """Return the HTML, empty for text that the parser would not show in full or in good time."""
    if len(text) > LONGEST:
        return ""
    environment: _Environment = {"colours": Colours()}
    try:
        tokens = _parser.parse(text, environment)
    except TooMuchWork:
        return ""
    if any(token.level >= DEEPEST - 1 for token in tokens):
        return ""
    return str(_parser.renderer.render(tokens, _parser.options, environment))


class _Parser(MarkdownIt):
    """Markdown-it that takes only addresses of the web and of mail for links."""

    def validateLink(self, url: str) -> bool:
        return _SAFE.match(url) is not None


class _Renderer(RendererHTML):
    """Markdown-it's renderer with our code, formulas, tasks and tables."""

    def fence(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        words = tokens[index].info.split(maxsplit=1)
        return code_block(tokens[index].content, words[0] if words else "", env["colours"])

    def code_block(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        return code_block(tokens[index].content, "", env["colours"])

    def formula_block(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        return f'<p class="formula"><code>{escapeHtml(tokens[index].content)}</code></p>\n'

    def table_open(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        return '<div class="prose__table" tabindex="0"><table>\n'

    def table_close(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: _Environment
    ) -> str:
        return "</table></div>\n"


def _count_tokens(state: StateCore) -> None:
    spend(state.env, len(state.tokens))


def _count_inline(state: StateInline, silent: bool) -> bool:
    spend(state.env, 1)
    return False


def _count_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    spend(state.env, 1)
    return False


def _put_together() -> MarkdownIt:
    parser = _Parser(
        "commonmark",
        {"html": False, "maxNesting": DEEPEST, "xhtmlOut": False},
        renderer_cls=_Renderer,
    )
    parser.enable(["table", "strikethrough"])
    skip = parser.inline.skipToken

    def skip_counted(state: StateInline) -> None:
        spend(state.env, 1)
        skip(state)

    parser.inline.skipToken = skip_counted  # type: ignore[method-assign] # no rule is asked there
    parser.core.ruler.after("block", "work", _count_tokens)
    parser.inline.ruler.before("text", "work", _count_inline)
    parser.block.ruler.before("table", "work", _count_block, _EVERYWHERE)
    parser.block.ruler.before("fence", "formula", formula_block, _EVERYWHERE)
    parser.inline.ruler.before("escape", "formula", formula)
    parser.inline.ruler.before("escape", "thin_space", keep_thin_space)
    parser.inline.ruler.before("newline", "bare_link", bare_link)
    for rule in (images_as_links, mark_links, lower_headings, align_cells, mark_tasks):
        parser.core.ruler.push(rule.__name__, rule)
    return parser


_parser = _put_together()
