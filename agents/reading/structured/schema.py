"""The JSON Schemas of the replies that policies want: a server that can keeps the model to them.

A reply is read by the lenient readers all the same, for not every server can.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

_KEPT = ("type", "enum", "const", "required")
_DEEPEST = 12
_MOST = 2_000
"""The parts of one tool's schema that are written; a reference to itself would have no end."""
_SIZE = 40_000
"""Characters of a schema with each tool's own inputs; above, only the tools' names are said."""

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}


def _object(**fields: Any) -> dict[str, Any]:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_GOALS = _list(_object(description=_TEXT, success_criteria=_TEXT))
_BRANCH = _object(
    branch_id={"type": "integer"},
    strategy=_TEXT,
    reasoning=_TEXT,
    overall_score=_NUMBER,
    tools_needed=_list(_TEXT),
)
_TREE = _object(
    branches=_list(_BRANCH), selected_branch={"type": "integer"}, selection_rationale=_TEXT
)

NODE = _object(kind={"type": "string", "enum": ["THOUGHT", "ACTION", "FINAL"]}, text=_TEXT)
"""One node of the implicit reasoner."""
PHASES = _object(phases=_list(_object(name=_TEXT, goals=_GOALS)))
"""A plan of phases and goals."""
NEW_GOALS = _object(goals=_GOALS)
"""What takes the place of a goal that failed."""
SETTLED = _object(revised_goal=_TEXT, clarification_question=_TEXT) | {"required": []}
"""What a question means, or the question back."""


def step_schema(tools: Mapping[str, Mapping[str, Any]], *, is_tree: bool = False) -> dict[str, Any]:
    """Return the schema of a step: a thought, and an action that is one of the tools' by name.

    `tools` are the schemas of their inputs. With `is_tree` the thought is a tree of them.
    """
    actions = [_action([name], inputs_schema(inputs)) for name, inputs in tools.items()]
    if len(json.dumps(actions, default=str)) > _SIZE:
        actions = [_action(tools, {"type": "object"})]
    action = actions[0] if len(actions) == 1 else {"anyOf": actions}
    thought = {"tree_of_thoughts": _TREE} if is_tree else {"thought": _TEXT}
    return _object(**thought, action=action, confidence=_NUMBER)


def inputs_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's schema with its references put in place, and only what gives it its form.

    Bounds and patterns are left to the tool, which checks its inputs itself. What lies too deep, as
    where a schema refers to itself, may be anything.
    """
    written = _Written(schema).part(schema, 0)
    return written if written.get("type") == "object" else {"type": "object"}


def _action(names: Iterable[str], inputs: dict[str, Any]) -> dict[str, Any]:
    return _object(tool={"type": "string", "enum": list(names)}, parameters=inputs)


class _Written:
    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole
        self._left = _MOST

    def part(self, part: Any, depth: int) -> dict[str, Any]:
        part = self._referred(part)
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return {}
        kept = {name: part[name] for name in _KEPT if name in part}
        options = part.get("anyOf") or part.get("oneOf")
        if isinstance(options, list):
            kept["anyOf"] = [self.part(one, depth + 1) for one in options]
        if isinstance(part.get("items"), Mapping):
            kept["items"] = self.part(part["items"], depth + 1)
        fields = part.get("properties")
        if isinstance(fields, Mapping):
            kept["properties"] = {name: self.part(fields[name], depth + 1) for name in fields}
            kept["required"] = [name for name in kept.get("required", ()) if name in fields]
        more = part.get("additionalProperties", not fields)
        if kept.get("type") == "object":
            is_schema = isinstance(more, Mapping)
            kept["additionalProperties"] = self.part(more, depth + 1) if is_schema else bool(more)
        return kept

    def _referred(self, part: Any) -> Mapping[str, Any]:
        """Follow references within the schema."""
        for _ in range(_DEEPEST):
            if not isinstance(part, Mapping):
                return {}
            if not isinstance(reference := part.get("$ref"), str):
                return part
            part = self._whole
            for name in reference.removeprefix("#/").split("/"):
                part = part.get(name) if isinstance(part, Mapping) else None
        return {}
