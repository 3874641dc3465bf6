"""Markdown of an answer made into HTML that is safe to show, and the same as the page's preview.

`static/js/markdown/parsing.js` is the other half of the contract; `tests/markdown.json` holds both.
"""

from chat.stream.markdown.parsing import DEEPEST, LONGEST
from chat.stream.markdown.rendering import FORM, render_markdown

__all__ = ["DEEPEST", "FORM", "LONGEST", "render_markdown"]
