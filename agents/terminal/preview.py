"""Show a value in small, with what looks like a secret left out: for terminals and logs."""

import re
from collections.abc import Mapping
from typing import Any

REDACTED = "<redacted>"

_NOT_LETTERS = re.compile(r"[^a-z]")
_SECRET = re.compile(
    r"secret|passw|passphrase|apikey|privatekey|accesskey|credential|authorization"
    r"|(?:token|auth|bearer|cookie|pwd|jwt|passcode)\Z"
)
_ITEMS = 20
_DEPTH = 8


def preview(value: Any, max_len: int = 400, depth: int = _DEPTH) -> Any:
    """Return a copy of a JSON value in which nothing is long, and no secret is shown by its name.

    Texts end with `...` after `max_len` characters, lists after 20 items, objects after 20 keys.
    """
    if isinstance(value, str):
        return value if len(value) <= max_len else f"{value[:max_len]}..."
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        return "..."
    if isinstance(value, Mapping):
        keys = list(value)[:_ITEMS]
        shown = {preview(str(key), max_len): _of(key, value[key], max_len, depth) for key in keys}
        more = len(value) - _ITEMS
        return shown | ({"...": f"{more} more keys"} if more > 0 else {})
    items = [preview(item, max_len, depth - 1) for item in value[:_ITEMS]]
    return items + (["..."] if len(value) > _ITEMS else [])


def _of(key: object, value: Any, max_len: int, depth: int) -> Any:
    name = _NOT_LETTERS.sub("", str(key).lower())
    return REDACTED if _SECRET.search(name) else preview(value, max_len, depth - 1)
