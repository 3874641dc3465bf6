"""What failures and calls are called where they are stored has one list, and it stays."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from agents import errors
from agents.contracts import Purpose
from agents.errors import AgentError, ErrorKind

AGENTS = Path(errors.__file__).parent


def purposes() -> Iterator[str]:
    """Yield each purpose that the engine's code writes down as text."""
    for path in AGENTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_given = isinstance(node, ast.keyword) and node.arg == "purpose"
            is_named = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "purpose"
            if isinstance(node, ast.keyword | ast.Assign) and (is_given or is_named):
                yield from filter(None, texts(node.value))


def texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=other):
            yield from texts(body)
            yield from texts(other)


def test_every_error_has_a_kind_that_is_stored_under_its_name() -> None:
    """Rows hold the names: whoever renames a class renames none of them."""
    kinds = {
        name: vars(kind).get("kind")
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, AgentError)
    }

    assert kinds == {kind.value: kind for kind in ErrorKind if kind is not ErrorKind.GOAL_FAILED}


def test_the_kinds_that_pages_and_replays_go_by_are_stored_as_ever() -> None:
    stored = [
        *("ParseError", "ToolError", "ToolNotFound", "ToolSelectionError", "InvalidInputs"),
        *("ToolFailed", "ToolTimeout", "NotApproved", "Stopped", "OutOfTime", "OutOfBudget"),
        *("Interrupted", "GoalFailed"),
    ]

    assert [ErrorKind(name).value for name in stored] == stored


def test_every_purpose_that_the_engine_writes_is_listed() -> None:
    written = set(purposes())

    assert {"plan_again", "think"} <= written
    assert written <= {purpose.value for purpose in Purpose}
