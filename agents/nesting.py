"""How deep JSON may be nested: what is deeper breaks whoever walks along it level by level."""

from typing import Any

DEEPEST = 100
"""Levels of the deepest inputs that a tool is called with."""

CUT = "[nested too deep]"
_CONTAINERS = (dict, list, tuple)


def is_too_deep(value: Any) -> bool:
    """Tell whether objects and lists stand in each other more than `DEEPEST` levels deep."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _containers(outer)]
        if not level:
            return False
    return True


def bounded(value: Any) -> Any:
    """Return the value if it is not too deep, else one that still is, by one level, and no more.

    So it can be stored and shown, and is refused wherever it is checked.
    """
    return _cut(value, DEEPEST + 1) if is_too_deep(value) else value


def _cut(value: Any, levels: int) -> Any:
    if not isinstance(value, _CONTAINERS):
        return value
    if not levels:
        return CUT
    if isinstance(value, dict):
        return {name: _cut(inner, levels - 1) for name, inner in value.items()}
    return [_cut(inner, levels - 1) for inner in value]


def _containers(value: Any) -> list[Any]:
    inside = value.values() if isinstance(value, dict) else value
    return [inner for inner in inside if isinstance(inner, _CONTAINERS)]
