"""The inputs of tools in all sources: how they are declared, checked and cast."""

import ast
from collections.abc import Callable
from typing import Any

from agents.errors import ConfigurationError, InvalidInputs
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit
from tests.conformance.tool_calls import observation_of

Case = dict[str, Any]

OTHER_WORDS = "it is refused in words of our own, which also say what there is or what fits"
TYPED = "an input reaches the tool as its declared type, not as it was written"
NO_SILENT_LOSS = "a value that would lose a part by the cast is refused and not cut"
READ_AS_MEANT = "a truth value in quotes is read as what it says"
ONLY_TEXT = "a text input takes a text only, as another of the sources demands"
NO_EXTRAS = "an unknown input is refused by name, or pruned before by self_repair"
WITHOUT_INPUTS = "a tool that needs no inputs is a useful one"
RETURNS_TEXT = "every tool returns text, so there is no return type to get wrong"
ONE_PURPOSE = "one description says what a tool is for and when to use it"

PYTHON_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "float": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}
_PRAGMATIC = {bool: READ_AS_MEANT, int: NO_SILENT_LOSS, str: ONLY_TEXT}


def check_inputs(case: Case) -> str | None:
    """Check inputs against declared types."""
    asked, expected = case["input"], case["expected"]
    types = {param["name"]: PYTHON_TYPES[param["type"]] for param in asked["params"]}
    required = {param["name"]: param.get("required", True) for param in asked["params"]}
    made = _typed({name: (types[name], required[name]) for name in types})
    try:
        checked = Toolkit([made]).validate(made, asked["inputs"])
    except InvalidInputs as error:
        if expected["valid"]:
            return _why_refused(asked["inputs"], types)
        return None if expected.get("message", "") in str(error) else OTHER_WORDS
    if not expected["valid"]:
        assert bool in types.values(), f"taken as {checked}"
        return READ_AS_MEANT
    given = {name: value for name, value in checked.items() if name in asked["inputs"]}
    return None if given == expected.get("returned", given) else TYPED


def check_spec(case: Case) -> str | None:
    """Make a tool of a specification; what it must refuse is refused, or cannot be written."""
    asked = case["input"]
    wanted = case["expected"].get("error")
    refusal = _refusal(asked)
    if refusal:
        assert wanted, f"refused: {refusal}"
        return None if case["expected"].get("message", "") in refusal else OTHER_WORDS
    if not wanted:
        return None
    if not asked.get("params"):
        return WITHOUT_INPUTS
    if asked.get("description") and asked.get("name") and not asked.get("when_to_use", "x"):
        return ONE_PURPOSE
    assert asked.get("returns") not in PYTHON_TYPES, "nothing was refused"
    return RETURNS_TEXT


def check_validation(case: Case) -> str | None:
    """Check the parameters of an action against the parameters of its tool."""
    asked, expected = case["input"], case["expected"]
    name, schema, given = _declared(asked)
    made = Tool(
        name="act",
        description="Act.",
        inputs=JsonInputs({"type": "object", "properties": {name: schema}, **_needed(asked)}),
        run=lambda **_: "done",
    )
    seen = observation_of(made, given)
    if expected.get("valid"):
        assert seen.error is None, seen.text
        return None
    assert seen.error == "InvalidInputs", f"{seen.error}: {seen.text}"
    return None if expected.get("error", "") in seen.text else OTHER_WORDS


AREAS: dict[str, Callable[[Case], str | None]] = {
    "ToolSpec input check": check_inputs,
    "ToolSpec self-validation": check_spec,
    "tool validation": check_validation,
}


def _typed(declared: dict[str, tuple[type, bool]]) -> Tool:
    """Make a tool by the decorator, as a person would, of a function with these parameters."""
    signature = ", ".join(
        f"{name}: {kind.__name__}" + ("" if is_required else " | None = None")
        for name, (kind, is_required) in declared.items()
    )
    scope: dict[str, Any] = {}
    source = f"def t(*, {signature}) -> str:\n    'Take inputs.'\n    return ''"
    exec(compile(source, "a tool", "exec"), scope)  # noqa: S102 - written above, of names and types
    return tool()(scope["t"])


def _why_refused(inputs: dict[str, Any], types: dict[str, type]) -> str:
    if not inputs.keys() <= types.keys():
        return NO_EXTRAS
    for name, value in inputs.items():
        if types[name] in _PRAGMATIC and not isinstance(value, types[name]):
            return _PRAGMATIC[types[name]]
        if value is None or not isinstance(value, types[name]):
            return NO_SILENT_LOSS
    raise AssertionError(f"refused: {inputs}")


def _refusal(asked: Case) -> str:
    """Return why no tool can be made of a specification, empty if one can."""
    try:
        _specified(asked)
    except (ConfigurationError, SyntaxError) as error:
        return str(error) or "refused"
    return ""


def _specified(asked: Case) -> None:
    """Make the tool of a specification of `[name, type, is_required]` parameters."""
    names = [name for name, *_ in asked.get("params", ())]
    ast.parse(f"def t({', '.join(name or '?' for name in names)}): ...")
    compile(f"def t({', '.join(names)}): ...", "a tool", "exec")
    properties = {
        name: {"type": "number" if kind == "float" else kind}
        for name, kind, *_ in asked.get("params", ())
    }
    inputs = JsonInputs({"type": "object", "properties": properties})

    def described() -> str:
        return ""

    described.__doc__ = asked.get("description")
    made = tool()(described)
    name = asked.get("name") or ""
    Toolkit([Tool(name=name, description=made.description, inputs=inputs, run=made.run)])


def _declared(asked: Case) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the parameter's name, its schema, and the parameters that are given."""
    if "enum" in asked:
        return "direction", {"type": "string", "enum": asked["enum"]}, {"direction": asked["given"]}
    if "parameters" in asked:
        name = next(iter(asked.get("required", ["selector"])), "selector")
        return name, {"type": "string"}, asked["parameters"]
    if "given" in asked:
        name, kind = next((key, value) for key, value in asked.items() if key != "given")
        return name, {"type": kind}, {name: asked["given"]}
    return "selector", {"type": "string"}, asked


def _needed(asked: Case) -> dict[str, Any]:
    return {"required": asked["required"]} if isinstance(asked.get("required"), list) else {}
