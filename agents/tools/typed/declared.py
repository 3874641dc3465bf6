"""The types that a function declares for its inputs, as a model that checks and converts them."""

import functools
import operator
import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import typing_extensions
from pydantic import BaseModel, ConfigDict, create_model
from pydantic.errors import PydanticUserError

from agents.errors import ConfigurationError


def declared(name: str, fields: Mapping[str, tuple[Any, Any]]) -> type[BaseModel]:
    """Return the model of a tool's inputs: by name the type and the default, `...` for none.

    Dataclasses, pydantic models, TypedDicts, Literals, enums and unions and lists of them arrive at
    the function as what it declared. Raises ConfigurationError for a type that has no JSON Schema.
    """
    supported: dict[str, Any] = {
        field: (_supported(hint), default) for field, (hint, default) in fields.items()
    }
    try:
        model: type[BaseModel] = create_model(
            name, __config__=ConfigDict(extra="forbid"), **supported
        )
        model.model_json_schema()
    except (PydanticUserError, NameError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigurationError(
            f"An input of the tool {name!r} cannot be told to a model: {reason}"
        ) from error
    return model


def _supported(hint: Any) -> Any:
    """Return the type with each TypedDict in it as pydantic takes it in every Python."""
    if is_typeddict(hint):
        return _typed_dict(hint)
    parts = get_args(hint)
    origin: Any = get_origin(hint)
    if origin is None or not parts:
        return hint
    if origin is Annotated:
        return Annotated[(_supported(parts[0]), *parts[1:])]
    if origin in (Union, types.UnionType):
        return functools.reduce(operator.or_, map(_supported, parts))
    if isinstance(origin, type):
        generic: Any = origin
        return generic[tuple(map(_supported, parts))]
    if origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return origin[_supported(parts[0])]
    return hint


@functools.cache
def _typed_dict(kind: Any) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    fields: dict[str, Any] = {}
    for name, hint in hints.items():
        is_marked = get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired)
        inner = _supported(get_args(hint)[0] if is_marked else hint)
        need = (
            typing_extensions.Required
            if name in kind.__required_keys__
            else typing_extensions.NotRequired
        )
        fields[name] = need[inner]
    return typing_extensions.TypedDict(kind.__name__, fields)  # type: ignore[operator]
