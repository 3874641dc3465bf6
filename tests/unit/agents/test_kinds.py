"""What failures and calls are called where they are stored has one list, and it stays."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents import errors
from agents.contracts import Purpose
from agents.errors import AgentError, ErrorKind
from agents.policies.with_goal import SETTING

ROOT = Path(errors.__file__).parents[1]
TABLES = {ROOT / "agents/errors.py", ROOT / "agents/contracts.py"}
CODE = sorted(
    path
    for folder in ("agents", "chat", "project")
    for path in (ROOT / folder).rglob("*.py")
    if path not in TABLES
)
PAGES = sorted([*(ROOT / "templates").rglob("*.html"), *(ROOT / "static/js").rglob("*.js")])
NAMES = {name for name, kind in vars(errors).items() if inspect.isclass(kind)}
SPELLINGS = {kind.value for kind in ErrorKind} | {
    purpose.value for purpose in Purpose if "_" in purpose and purpose != SETTING
}
"""What is written nowhere but in its table; purposes of one word are words of prose, too."""


def strays(tree: ast.AST) -> Iterator[str]:
    """Yield what is written down of kinds and purposes as text instead of as a member."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text in SPELLINGS:
                yield text
            case ast.keyword(arg="purpose", value=value):
                yield from texts(value)
            case ast.Assign(targets=[ast.Name(id="purpose")], value=value):
                yield from texts(value)
            case ast.Compare(left=ast.Name(id="purpose") | ast.Attribute(attr="purpose")):
                yield from (text for value in node.comparators for text in texts(value))
            case ast.Attribute(value=ast.Name(id=name), attr="__name__") if name in NAMES:
                yield ast.unparse(node)
            case ast.keyword(arg="error", value=ast.Attribute(attr="__name__")):
                yield ast.unparse(node)


def texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.IfExp(body=body, orelse=other):
            yield from texts(body)
            yield from texts(other)
        case ast.Tuple(elts=values) | ast.Set(elts=values) | ast.List(elts=values):
            yield from (text for value in values for text in texts(value))


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


def test_purposes_are_stored_as_ever() -> None:
    stored = [
        *("think", "step", "final", "repair", "choose_tool", "fill_inputs", "work", "plan"),
        *("plan_steps", "plan_again", "plan_goals", "adapt_plan", "settle_goal", "solve"),
        *("synthesize", "reflect", "learn", "summarize"),
    ]

    assert [purpose.value for purpose in Purpose] == stored


def test_kinds_and_purposes_are_written_as_members() -> None:
    found = {path: list(strays(ast.parse(path.read_text(encoding="utf-8")))) for path in CODE}

    assert len(CODE) > 300
    assert {path: spelled for path, spelled in found.items() if spelled} == {}


@pytest.mark.parametrize(
    "code",
    [
        'Observation(text="", error="ToolFailed")',
        "Observation(text=text, error=ToolFailed.__name__)",
        "Observation(text=text, error=type(failure).__name__)",
        'model.complete(messages, purpose="think")',
        'purpose = "plan" if begun else "solve"',
        'call.purpose in ("think", "step")',
    ],
)
def test_a_kind_or_purpose_that_is_no_member_is_found(code: str) -> None:
    assert list(strays(ast.parse(code)))


def test_pages_leave_kinds_and_purposes_to_the_words_that_they_are_given() -> None:
    quoted = re.compile(r"""["'](\w+)["']""")
    written = {word for path in PAGES for word in quoted.findall(path.read_text(encoding="utf-8"))}

    assert len(PAGES) > 50
    assert written & SPELLINGS == set()
