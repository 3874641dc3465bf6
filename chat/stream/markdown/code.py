"""Blocks of code: a bar with the language and two buttons, and the text in colours.

What a lexer of Pygments does with hostile text cannot be interrupted, nor foreseen: blocks are
short enough for the slowest (one match that tries everything: 0.3 s), and an answer has a budget.
"""

import re
import time
from html import escape
from io import StringIO

from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

MAX_CODE = 4_000
"""Characters of one block of code that are coloured."""

COLOURING_SECONDS = 0.25
"""CPU that colouring takes for one answer; what comes after is shown without colours."""

_NAME = re.compile(r"[A-Za-z0-9_+#.-]{1,24}")
_LANGUAGES = """
    bash c console cpp css csharp diff django docker go html http ini java javascript js json jsx
    kotlin lua make markdown md nginx php postgres powershell py pycon python r rb ruby rust scala
    sh shell sql swift toml ts tsx typescript xml yaml yml
"""
_BAR = (
    '<div class="code__bar"><span class="code__language">{}</span>'
    '<button class="code__button code__wrap needs-scripts" type="button" aria-pressed="false">'
    'Wrap<span class="for-screen-reader"> the lines of this code</span></button>'
    '<button class="code__button code__copy needs-scripts" type="button">'
    'Copy<span class="for-screen-reader"> this code</span></button></div>'
)


def code_block(text: str, language: str, colours: "Colours") -> str:
    """Return the HTML of a block; `language` is what its fence names, in any case."""
    bar = _BAR.format(language if _NAME.fullmatch(language) else "")
    shown = colours.of(text, language.lower()) or escape(text)
    return f'<div class="code">{bar}<pre tabindex="0"><code>{shown}</code></pre></div>\n'


class Colours:
    """The colouring of one answer's code, within its budget."""

    def __init__(self) -> None:
        self._left = COLOURING_SECONDS

    def of(self, text: str, language: str) -> str:
        """Return coloured HTML, empty where there is no lexer, no time, or too much text."""
        if language not in _LANGUAGES.split() or len(text) > MAX_CODE or self._left <= 0:
            return ""
        try:
            lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        except ClassNotFound:
            return ""
        begun = time.thread_time()
        tokens = []
        for token in lexer.get_tokens(text):
            tokens.append(token)
            if time.thread_time() - begun > self._left:
                break
        else:
            out = StringIO()
            _FORMATTER.format(tokens, out)
            self._left -= time.thread_time() - begun
            coloured = out.getvalue()
            return coloured if text.endswith("\n") else coloured.removesuffix("\n")
        self._left = 0
        return ""


_FORMATTER = HtmlFormatter(nowrap=True)
