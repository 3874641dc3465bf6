"""How a found turn is put into words."""

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.formats import date_format

register = template.Library()


@register.filter
def when(moment: datetime) -> str:
    """Write a moment as short as it can be told apart: 14:05, 3 Nov, 3 Nov 2025."""
    local, now = timezone.localtime(moment), timezone.localtime()
    if local.date() == now.date():
        return date_format(local, "H:i")
    return date_format(local, "j M" if local.year == now.year else "j M Y")
