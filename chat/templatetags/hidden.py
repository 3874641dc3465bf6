"""How a page shows what a text hides: each such character stands as a mark with its number."""

from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from agents.unicode_safety import escape_of, name_of, noted, revealed

register = template.Library()


@register.filter
def visible(text: Any) -> SafeString:
    """Return a text that is read, with a mark for what it hides where that can deceive."""
    # The marks are of digits, and all that was written is escaped before.
    return mark_safe(noted(escape(text), _mark))  # noqa: S308


def all_visible(text: str) -> SafeString:
    """Return a text that is decided on, with a mark for all that it hides."""
    return mark_safe(revealed(escape(text), _mark))  # noqa: S308 - as above


def _mark(character: str) -> str:
    title, name = escape_of(character), name_of(character)
    return f'<span class="hidden-character" title="{title}">{name}</span>'
