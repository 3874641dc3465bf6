"""The knobs of a policy as fields of a form: each with its type, its bounds and what it does."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from agents.contracts import Value

Kind = Literal["flag", "choice", "number", "text", "lines", "json"]


@dataclass(frozen=True)
class Knob:
    """A field of a form by its place, such as `limits.max_turns`; `text` is what stands in it."""

    place: str
    label: str
    kind: Kind
    explained: str = ""
    text: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    is_whole: bool = False
    error: str = ""

    @property
    def is_on(self) -> bool:
        """Tell whether a flag is set."""
        return self.text == "true"

    @property
    def step(self) -> str:
        """Return the steps in which a number is chosen."""
        return "1" if self.is_whole else "any"

    def read(self, typed: str) -> Any:
        """Return what was typed as a value; what is none stays text, for the check to refuse.

        None says that nothing was typed, so that the default holds.
        """
        match self.kind:
            case "flag":
                return typed == "true"
            case "lines":
                return [line.strip() for line in typed.splitlines() if line.strip()] or None
            case "number" | "json":
                return _value(typed) if typed.strip() else None
        return typed.strip() or None


def knobs(
    kind: type[Value], under: str, values: Mapping[str, Any], problems: Mapping[str, str]
) -> list[Knob]:
    """Return a knob for each field of `kind`, with its value and what is wrong with it."""
    return [
        _knob(name, field, f"{under}.{name}", values, problems)
        for name, field in kind.model_fields.items()
    ]


def written(value: Any) -> str:
    """Return a value as it stands in a field."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case float() if value.is_integer():
            return str(int(value))
        case list() | tuple() if all(isinstance(one, str) for one in value):
            return "\n".join(value)
    return json.dumps(value)


def _knob(
    name: str,
    field: FieldInfo,
    place: str,
    values: Mapping[str, Any],
    problems: Mapping[str, str],
) -> Knob:
    types = _types(field.annotation)
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    bounds = {
        key: getattr(one, key) for one in field.metadata for key in _BOUNDS if hasattr(one, key)
    }
    kind, choices = _kind(types)
    return Knob(
        place=place,
        label=name.replace("_", " ").capitalize(),
        kind=kind,
        explained=field.description or "",
        text=written(values.get(name, default)),
        choices=choices,
        least=bounds.get("ge", bounds.get("gt")),
        most=bounds.get("le", bounds.get("lt")),
        is_whole=int in types,
        error=next((what for at, what in problems.items() if _is_at(at, place)), ""),
    )


_BOUNDS = ("ge", "gt", "le", "lt")


def _types(annotation: Any) -> tuple[Any, ...]:
    """Return what a field may be, without None."""
    is_union = get_origin(annotation) in (Union, UnionType)
    found = get_args(annotation) if is_union else (annotation,)
    return tuple(one for one in found if one is not type(None))


def _kind(types: tuple[Any, ...]) -> tuple[Kind, tuple[str, ...]]:
    only = types[0] if len(types) == 1 else None
    if only is bool:
        return "flag", ()
    if get_origin(only) is Literal and all(isinstance(one, str) for one in get_args(only)):
        return "choice", get_args(only)
    if only in (int, float):
        return "number", ()
    if only is str:
        return "text", ()
    if get_origin(only) in (tuple, list) and str in get_args(only):
        return "lines", ()
    return "json", ()


def _value(typed: str) -> Any:
    try:
        return json.loads(typed)
    except (ValueError, RecursionError):
        return typed.strip()


def _is_at(at: str, place: str) -> bool:
    return at == place or at.startswith(f"{place}.")
