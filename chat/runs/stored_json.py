"""JSON as Postgres can keep it: what cannot be stored is replaced by a mark that can be seen."""

import math
from typing import Any

from agents.text import storable


def storable_json(value: Any) -> Any:
    """Return a JSON value whose texts, keys and numbers a jsonb column takes."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(str(key)): storable_json(item) for key, item in value.items()}
        case list() | tuple():
            return [storable_json(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value
