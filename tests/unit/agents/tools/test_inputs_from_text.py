"""A tool's inputs are read out of what a model writes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import InvalidInputs
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit


@tool()
def search(query: str, limit: int = 5) -> str:
    """Take one required string."""
    return query * limit


@tool()
def run(code: str) -> str:
    """Take only a string."""
    return code


@tool()
def total(numbers: list[float]) -> str:
    """Take only a list."""
    return str(sum(numbers))


@tool()
def move(x: int, y: int) -> str:
    """Take two numbers."""
    return f"{x} {y}"


@tool()
def now(zone: str = "UTC", day: str = "") -> str:
    """Require nothing."""
    return zone + day


@tool()
def ping() -> str:
    """Take nothing."""
    return "pong"


@pytest.mark.parametrize(
    ("taker", "text", "expected"),
    [
        (search, '{"query": "x", "limit": 2}', {"query": "x", "limit": 2}),
        (search, '```json\n{"query": "x"}\n```', {"query": "x"}),
        (search, '```\n{"query": "x"}```', {"query": "x"}),
        (search, 'here you go: {"query": "x"} trailing junk', {"query": "x"}),
        (search, '{"query": "x"}\nObservation: {"query": "y"}', {"query": "x"}),
        (search, "{'query': 'x', 'limit': 2}", {"query": "x", "limit": 2}),
        (search, '{"query": "two\nlines"}', {"query": "two\nlines"}),
        (search, '{"query": {"nested": [1, 2]}}', {"query": {"nested": [1, 2]}}),
        (search, "plain words", {"query": "plain words"}),
        (search, ' "an exact phrase" ', {"query": '"an exact phrase"'}),
        (search, '{"other": 1}', {"query": '{"other": 1}'}),
        (run, "print({1: 2})", {"code": "print({1: 2})"}),
        (run, "x = {}\nx", {"code": "x = {}\nx"}),
        (run, 'x = {"code": 1}', {"code": 'x = {"code": 1}'}),
        (run, "f'{x}'", {"code": "f'{x}'"}),
        (run, "{1, 2}", {"code": "{1, 2}"}),
        (run, "```python\nif x:\n    y\n```", {"code": "if x:\n    y"}),
        (run, "```python\nif x:\n    y", {"code": "if x:\n    y"}),
        (run, '{"code": "```python\\nx\\n```"}', {"code": "```python\nx\n```"}),
        (run, '```json\n{"code": "```python\\nx\\n```"}\n```', {"code": "```python\nx\n```"}),
        (total, "[1, 2.5]", {"numbers": [1, 2.5]}),
        (total, "not a list", {"numbers": "not a list"}),
        (now, "Europe/Paris", {"zone": "Europe/Paris"}),
        (now, "{}", {}),
        (ping, "", {}),
        (ping, "  \n", {}),
        (ping, "{}", {}),
    ],
)
def test_inputs_are_read(taker: Tool, text: str, expected: dict[str, Any]) -> None:
    assert Toolkit().inputs_from_text(taker, text) == expected


@pytest.mark.parametrize(
    ("taker", "text"),
    [
        (search, '{"query": "cut off in the mid'),
        (search, '{"query": }'),
        (search, ""),
        (run, "  "),
        (move, "3 4"),
        (move, "path = a.txt"),
        (ping, "hello"),
    ],
)
def test_text_without_inputs_says_what_the_tool_takes(taker: Tool, text: str) -> None:
    with pytest.raises(InvalidInputs) as raised:
        Toolkit().inputs_from_text(taker, text)

    assert f"The inputs of {taker.name} must be one JSON object. It takes: " in str(raised.value)


@pytest.mark.parametrize("bomb", ["[" * 100_000, '{"query":' * 50_000, "{" * 100_000, "((" * 9_000])
def test_deep_nesting_breaks_nothing(bomb: str) -> None:
    toolkit = Toolkit()

    for taker in (search, total):
        try:
            inputs = toolkit.inputs_from_text(taker, bomb)
        except InvalidInputs:
            continue
        assert set(inputs) <= {"query", "numbers"}


@given(st.text() | st.text(alphabet="{}[]\"':,`\n queryx12"))
def test_any_text_gives_inputs_or_a_clear_refusal(text: str) -> None:
    for taker in (search, run, total, move, now, ping):
        try:
            inputs = Toolkit().inputs_from_text(taker, text)
        except InvalidInputs:
            continue
        assert all(isinstance(name, str) for name in inputs)


@given(st.dictionaries(st.sampled_from(["query", "limit"]), st.text() | st.integers(), min_size=1))
def test_any_json_object_is_read_back(inputs: dict[str, Any]) -> None:
    assert Toolkit().inputs_from_text(search, json.dumps(inputs)) == inputs
