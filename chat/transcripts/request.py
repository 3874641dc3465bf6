"""A model call's request, taken apart for the eye; the exact text stays beside it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chat.models import ModelCall
from chat.transcripts.fold import Folded, fold


@dataclass(frozen=True)
class ShownMessage:
    """One message of a request."""

    role: str
    text: Folded


@dataclass(frozen=True)
class ShownRequest:
    """The messages and the other settings of a request; both empty when it is not JSON."""

    messages: Sequence[ShownMessage]
    settings: Mapping[str, str]
    raw: Folded


def shown(call: ModelCall) -> ShownRequest:
    """Return the request of `call` (which must carry it) for the page."""
    body = _parsed(call.request)
    messages = body.pop("messages", [])
    return ShownRequest(
        messages=[_message(m) for m in messages] if isinstance(messages, list) else [],
        settings={name: _text(value) for name, value in body.items()},
        raw=fold(call.request),
    )


def _parsed(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _message(message: object) -> ShownMessage:
    if not isinstance(message, dict):
        return ShownMessage("message", fold(_text(message)))
    return ShownMessage(str(message.get("role", "message")), fold(_text(message.get("content"))))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
