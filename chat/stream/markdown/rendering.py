"""The HTML of an answer, whoever wrote it.

Three walls: the parser knows no HTML (`html` off), code is coloured from escaped text, and nh3
lets through only what the parser makes. Nothing remote is loaded: an image becomes a link to it.
"""

from html import escape

import nh3
from django.utils.safestring import SafeString, mark_safe

from chat.stream.markdown.parsing import html_of

FORM = 2
"""Counts the forms that `render_markdown` has had: what an earlier one made is made anew."""

_TAGS = """
    a blockquote br button code del div em h3 h4 h5 h6 hr input li ol p pre s span strong table
    tbody td th thead tr ul
"""
_ATTRIBUTES: dict[str, set[str]] = {
    "a": {"href", "title"},
    "button": {"aria-pressed", "class", "type"},
    "input": {"aria-label", "checked", "class", "disabled", "type"},
    "ol": {"start"},
    "pre": {"class", "tabindex"},
    "div": {"class", "tabindex"},
    **{tag: {"class"} for tag in ("code", "li", "p", "span", "td", "th")},
}
# A field is never more than the mark of a task, and a button never sends anything.
_FIXED = {
    "a": {"target": "_blank"},
    "button": {"type": "button"},
    "input": {"type": "checkbox", "disabled": ""},
}


def render_markdown(text: str) -> SafeString:
    """Return `text` as safe HTML; headings begin at the third level, below the page's own."""
    html = html_of(text) or f'<p class="prose__plain">{escape(text)}</p>'
    return mark_safe(  # noqa: S308 - nh3 has just cleaned it
        nh3.clean(
            html,
            tags=set(_TAGS.split()),
            attributes=_ATTRIBUTES,
            url_schemes={"http", "https", "mailto"},
            url_relative="deny",
            link_rel="noopener noreferrer nofollow",
            set_tag_attribute_values=_FIXED,
        )
    )
