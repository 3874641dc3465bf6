"""How a found turn is put into words, and what was looked for is marked."""

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chat.search.highlight import Piece
from chat.templatetags.hidden import visible

register = template.Library()


@register.filter
def when(moment: datetime) -> str:
    """Write a moment as short as it can be told apart: 14:05, 3 Nov, 3 Nov 2025."""
    local, now = timezone.localtime(moment), timezone.localtime()
    if local.date() == now.date():
        return date_format(local, "H:i")
    return date_format(local, "j M" if local.year == now.year else "j M Y")


@register.filter
def marked(piece: Piece) -> SafeString:
    """Return a piece of an excerpt, marked where it is what was looked for."""
    text = visible(piece.text)
    return format_html("<mark>{}</mark>", text) if piece.is_match else text
