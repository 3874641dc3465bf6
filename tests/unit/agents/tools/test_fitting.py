"""Inputs fitted to a schema: names and types that mean the same, and nothing made up."""

from typing import Any, Literal

import pytest

from agents.errors import InvalidInputs
from agents.reading.markup.inputs import inputs_of
from agents.tools.inputs import check_inputs
from agents.tools.spec import tool


@tool()
def look(query: str, limit: int = 5, exact: bool = False) -> str:
    """Look something up."""
    return query


@tool()
def order(
    article: str, count: int, size: Literal["S", "M"] = "M", notes: list[str] | None = None
) -> str:
    """Order an article."""
    return article


FITTING: dict[str, tuple[Any, dict[str, Any]]] = {
    "as it is": ({"query": "cats"}, {"query": "cats"}),
    "text": ("cats", {"query": "cats"}),
    "text in quotes": ('"cats"', {"query": "cats"}),
    "another case": ({"Query": "cats"}, {"query": "cats"}),
    "another name": ({"q": "cats"}, {"query": "cats"}),
    "any name": ({"input": "cats"}, {"query": "cats"}),
    "one level down": ({"arguments": {"query": "cats"}}, {"query": "cats"}),
    "a number for a text": ({"query": 2024}, {"query": "2024"}),
    "a text for a number": ({"query": "c", "limit": "3"}, {"query": "c", "limit": 3}),
    "a word for a boolean": ({"query": "c", "exact": "Yes"}, {"query": "c", "exact": True}),
    "null for what is optional": ({"query": "c", "limit": None}, {"query": "c"}),
    "what nobody knows": ({"query": "c", "page": 2}, {"query": "c"}),
    "a name and a value": ('query="cats"', {"query": "cats"}),
    "lines": ("query: cats\nlimit: 3", {"query": "cats", "limit": 3}),
    "python": ("{'query': 'cats', 'exact': True}", {"query": "cats", "exact": True}),
    "curly quotes": ("{\u201cquery\u201d: \u201ccats\u201d}", {"query": "cats"}),
    "keys without quotes": ('{query: "cats"}', {"query": "cats"}),
    "a lone backslash": ('{"query": "\\d+"}', {"query": "\\d+"}),
    "a brace in a text": ("cats {and} dogs", {"query": "cats {and} dogs"}),
}


@pytest.mark.parametrize(("given", "expected"), FITTING.values(), ids=FITTING)
def test_what_is_given_is_fitted_to_the_schema(given: Any, expected: dict[str, Any]) -> None:
    assert inputs_of(look, given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"article": "x", "count": "2", "size": "s"}, {"article": "x", "count": 2, "size": "S"}),
        ({"article": "x", "count": 2.0}, {"article": "x", "count": 2}),
        (
            {"article": 7, "count": 1, "notes": "soft"},
            {"article": "7", "count": 1, "notes": ["soft"]},
        ),
    ],
)
def test_each_value_is_fitted_to_its_own_type(given: Any, expected: dict[str, Any]) -> None:
    assert inputs_of(order, given) == expected


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"article": "x"},
        {"article": "x", "count": "a few"},
        {"article": "x", "count": None},
        {"input": "x"},
        {"article": "x", "count": 2.5},
    ],
)
def test_what_is_not_there_is_not_made_up(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputs):
        check_inputs(order, inputs_of(order, given))


@pytest.mark.parametrize("given", ['{"query": "cut', "{}", '{"city": "Oslo"}', ""])
def test_a_text_that_holds_no_inputs_is_refused(given: str) -> None:
    with pytest.raises(InvalidInputs):
        check_inputs(look, inputs_of(look, given))
