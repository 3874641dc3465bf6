"""What every page wears: the chosen theme and the rail of conversations."""

from typing import Any

from django import template
from django.conf import settings
from django.template.context import RequestContext

from chat.conversations.listing import page_of
from chat.models import User

register = template.Library()

THEMES = ("light", "dark")


@register.simple_tag(takes_context=True)
def theme(context: RequestContext) -> str:
    """Return the theme that this browser chose, empty to follow the system."""
    request = context.get("request")
    chosen = request.COOKIES.get("theme", "") if request is not None else ""
    return chosen if chosen in THEMES else ""


@register.simple_tag
def signup_is_open() -> bool:
    """Tell whether a stranger may make an account."""
    return bool(settings.SIGNUP_OPEN)


@register.inclusion_tag("chat/_rail.html", takes_context=True)
def conversation_rail(context: RequestContext) -> dict[str, Any]:
    """Show the person's newest conversations, with a mark on those that work right now."""
    user = context.get("user")
    listed = page_of(user) if isinstance(user, User) else None
    return {
        "page": listed,
        "current": context.get("conversation"),
        "user": user,
        "publishes": isinstance(user, User) and user.publishes,
        "request": context.get("request"),
        "csrf_token": context.get("csrf_token"),
    }
