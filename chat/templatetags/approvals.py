"""How an approval is put into words, and how exactly that is shown which it is about."""

import json
from typing import Any

from django import template
from django.utils.safestring import SafeString

from agents.tools.spec import Safety
from chat.models import Approval
from chat.runs.words import approval_in_words
from chat.templatetags.hidden import all_visible

register = template.Library()


@register.filter
def shown(value: Any) -> SafeString:
    """Return an input in full, a text as it is and all else as JSON, with nothing hidden in it."""
    return all_visible(_text(value))


@register.filter
def is_long(value: Any) -> bool:
    """Tell whether an input may be longer than the place that it is shown in."""
    text = _text(value)
    return len(text) > 1_000 or text.count("\n") > 15


@register.filter
def length_in_words(value: Any) -> str:
    """Say how long an input is."""
    return f"{len(_text(value)):,} characters"


@register.filter
def exactly(value: Any) -> str:
    """Return JSON in plain ASCII, so that no two different values look the same."""
    return json.dumps(value, indent=2)


@register.filter
def question_in_words(approval: Approval) -> str:
    """Ask whether the action may be done; what exactly it is stands beneath."""
    return {
        "python_repl": "Run this Python code?",
        "http_get": "Read this web page?",
        "web_search": "Search the web for this?",
        "browser_goto": "Open this page in the browser?",
    }.get(approval.tool, "Use this tool with exactly this?")


@register.filter
def risk_in_words(approval: Approval) -> str:
    """Say why it is asked."""
    risk = {
        Safety.SENSITIVE: "It can change something, or reach what is private.",
        Safety.DANGEROUS: "It can do harm that cannot be undone.",
    }.get(Safety(approval.safety), "")
    return f"{approval.why} {risk}".strip()


register.filter("answer_in_words", approval_in_words)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
