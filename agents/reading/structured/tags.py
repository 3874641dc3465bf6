"""Read a thought and an action out of XML tags; the patterns never backtrack over the text."""

import re
from html import unescape
from typing import Any

from agents.errors import ParseError
from agents.reading.json_repair import read_object
from agents.reading.structured.fields import NamedAction, loose_value

_THOUGHT = re.compile(r"<(thought|thinking|reasoning)\b[^<>]{0,200}>", re.IGNORECASE)
_ACTION = re.compile(r"<action\b(?P<attributes>[^<>]{0,20000})>", re.IGNORECASE)
_PARAM = re.compile(
    r"<param(?:eter)?[ \t\r\n]{1,9}name=[\"'](?P<name>[^\"'<>]{1,200})[\"'][^<>]{0,200}>", re.I
)
_PARAM_END = re.compile(r"</param(?:eter)?>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]{1,200})=(?:\"([^\"]*)\"|'([^']*)')")
_INNER = re.compile(r"<(tool|name|tool_name|parameters|params)>", re.IGNORECASE)
_NAMES = ("tool", "name", "tool_name")


def read_tags(text: str) -> tuple[str | None, NamedAction | None]:
    """Return the thought and the action of a reply in tags; None for what it does not have."""
    opening = _THOUGHT.search(text)
    thought = None if opening is None else _inside(text, opening)
    tag = _ACTION.search(text)
    return thought or None, None if tag is None else _action(text, tag)


def _inside(text: str, opening: re.Match[str]) -> str:
    """Return what stands in a tag; one that never ends goes to the next tag of an action."""
    name = opening[1].lower()
    closing = text.lower().find(f"</{name}>", opening.end())
    if closing < 0:
        following = _ACTION.search(text, opening.end())
        closing = len(text) if following is None else following.start()
    return text[opening.end() : closing].strip()


def _action(text: str, tag: re.Match[str]) -> NamedAction | None:
    attributes = {
        found[1].lower() if found[1].lower() in _NAMES else found[1]: unescape(found[2] or found[3])
        for found in _ATTRIBUTE.finditer(tag["attributes"])
    }
    is_closed = tag["attributes"].rstrip().endswith("/")
    end = -1 if is_closed else text.lower().find("</action>", tag.end())
    body = "" if is_closed else text[tag.end() : len(text) if end < 0 else end]
    inner = _inner(body)
    tool = next((attributes[name] for name in _NAMES if attributes.get(name)), "")
    tool = tool or next((inner[name] for name in _NAMES if inner.get(name)), "")
    if not tool.strip():
        return None
    given = {name: value for name, value in attributes.items() if name not in _NAMES}
    return NamedAction(tool.strip(), {**given, **_object(inner), **_params(body)})


def _params(body: str) -> dict[str, Any]:
    """Return the parameters in their own tags; one that never ends is not taken."""
    found: dict[str, Any] = {}
    at = 0
    while (opening := _PARAM.search(body, at)) is not None:
        closing = _PARAM_END.search(body, opening.end())
        if closing is None:
            break
        found[opening["name"]] = loose_value(
            unescape(body[opening.end() : closing.start()].strip())
        )
        at = closing.end()
    return found


def _inner(body: str) -> dict[str, str]:
    """Return what stands in the tags that name the tool or hold its parameters."""
    found: dict[str, str] = {}
    low = body.lower()
    for opening in _INNER.finditer(body):
        name = opening[1].lower()
        closing = low.find(f"</{name}>", opening.end())
        if closing < 0 or name in found:
            break
        found[name] = body[opening.end() : closing].strip()
    return found


def _object(inner: dict[str, str]) -> dict[str, Any]:
    written = inner.get("parameters") or inner.get("params") or ""
    if not written.startswith("{"):
        return {}
    try:
        return read_object(written).value
    except ParseError:
        return {}
