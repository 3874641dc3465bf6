"""A tool: a typed function with a docstring and one decorator."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel

from agents.contracts import EndReason
from agents.control import Control
from agents.errors import ConfigurationError
from agents.tools.attachments import Extras
from agents.tools.json_inputs import JsonInputs
from agents.tools.typed.declared import declared

REVEALED = (ValueError, LookupError)
"""What a tool raises is told to the model in its own words if it is one of these; see `Tool`."""

_GIVEN = {"control": Control, "extras": Extras}
"""Parameters of a tool that are no inputs, each with its type."""


class Safety(StrEnum):
    """How much harm a tool can do; sensitive and dangerous ones wait for approval."""

    SAFE = "safe"
    MODERATE = "moderate"
    SENSITIVE = "sensitive"
    DANGEROUS = "dangerous"


@dataclass(frozen=True)
class Tool:
    """What a policy may call: name, what it is for, its inputs' schema, and how it runs.

    `timeout` is in seconds. `idempotent` means that a call interrupted half-way may simply be made
    again. A `run` may return any JSON value, dataclass or pydantic model, and may be async; one
    that returns an iterator streams its output, images among it. What a `terminal` tool says is the
    run's answer and ends it, for the reason that `ends` gives. `release` lets go of what the tool
    holds from call to call, such as a browser; it is called at the run's end and may be called
    again. `reaches_out` means that inputs leave this machine, so that a person is asked once they
    may carry something away; `brings_in` that what it says may be private, or a stranger's words,
    as it always may be of a tool that reaches out. `doing` says for a page what the agent does
    while it runs, such as "Searching the web"; `may_repeat` that one may well call it many times in
    a row, for it looks, reads, reckons or moves on. `reveals` are the exceptions whose message the
    model may read: that of any other is in the log alone, for it may hold a secret. A ToolError
    always tells its message. `empty_is_answer` says that a text of nothing is a result like any
    other, told as `""`; elsewhere it ends no run. `reads_only` means that it changes nothing, here
    or elsewhere, so that several calls may run at the same time.
    """

    name: str
    description: str
    inputs: type[BaseModel] | JsonInputs
    run: Callable[..., Any]
    timeout: float = 30.0
    safety: Safety = Safety.SAFE
    idempotent: bool = True
    wants_control: bool = False
    wants_extras: bool = False
    terminal: bool = False
    ends: EndReason = EndReason.ANSWERED
    release: Callable[[], None] | None = None
    reaches_out: bool = False
    brings_in: bool = False
    doing: str = ""
    may_repeat: bool = False
    reveals: tuple[type[Exception], ...] = REVEALED
    reads_only: bool = False
    empty_is_answer: bool = False

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the inputs."""
        if isinstance(self.inputs, JsonInputs):
            return self.inputs.schema
        return self.inputs.model_json_schema()

    @property
    def input_names(self) -> tuple[str, ...]:
        """Return the names of the inputs in their order."""
        return tuple(self.schema.get("properties", ()))


def tool(
    *,
    timeout: float = 30.0,
    safety: Safety = Safety.SAFE,
    idempotent: bool = True,
    terminal: bool = False,
    ends: EndReason = EndReason.ANSWERED,
    reaches_out: bool = False,
    brings_in: bool = False,
    doing: str = "",
    may_repeat: bool = False,
    reveals: tuple[type[Exception], ...] = REVEALED,
    reads_only: bool = False,
    empty_is_answer: bool = False,
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a Tool of a function: its name, its docstring and its annotated parameters.

    A parameter `control: Control` is not an input: it is given a Control that ends with the call.
    Nor is `extras: Extras`: it is given what the call before handed on, where the policy does so.
    Raises ConfigurationError for a function without a docstring, with an unannotated parameter,
    or with `*` or `**`.
    """

    def make(function: Callable[..., Any]) -> Tool:
        name = function.__name__
        description = inspect.getdoc(function)
        if not description:
            raise ConfigurationError(f"The tool {name!r} needs a docstring: the model reads it.")
        hints = get_type_hints(function, include_extras=True)
        fields: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters.values():
            _check(name, parameter, hints)
            if parameter.name not in _GIVEN:
                default = ... if parameter.default is parameter.empty else parameter.default
                fields[parameter.name] = (hints[parameter.name], default)
        return Tool(
            name=name,
            description=description,
            inputs=declared(name, fields),
            run=function,
            timeout=timeout,
            safety=safety,
            idempotent=idempotent,
            wants_control="control" in hints,
            wants_extras="extras" in hints,
            terminal=terminal,
            ends=ends,
            reaches_out=reaches_out,
            brings_in=brings_in,
            doing=doing,
            may_repeat=may_repeat,
            reveals=reveals,
            reads_only=reads_only,
            empty_is_answer=empty_is_answer,
        )

    return make


def _check(name: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> None:
    if parameter.name not in hints:
        raise ConfigurationError(f"The tool {name!r} must say the type of {parameter.name!r}.")
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise ConfigurationError(f"The tool {name!r} must name each of its inputs.")
    for given, kind in _GIVEN.items():
        if (hints[parameter.name] is kind) != (parameter.name == given):
            raise ConfigurationError(f"The tool {name!r} must say `{given}: {kind.__name__}`.")
