"""Inputs are told with their fields, and arrive at the function as what it declared."""

import enum
import socket
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field, create_model

from agents.errors import ConfigurationError
from agents.tools.inputs import describe_inputs
from agents.tools.spec import Tool, tool


@dataclass
class Address:
    street: str
    number: int = 1


class Person(BaseModel):
    name: str
    age: Annotated[int, Field(ge=0, description="in years")]
    home: Address | None = None


class Filter(TypedDict):
    field: str
    words: typing.NotRequired[list[str]]


class Unit(enum.Enum):
    METRE = "m"
    FOOT = "ft"


class Tree(BaseModel):
    name: str
    children: "list[Tree]" = []


@tool()
def keep(
    person: Person,
    homes: list[Address],
    filters: list[Filter] | None = None,
    unit: Unit = Unit.METRE,
    mode: Literal["fast", "exact"] = "fast",
    share: typing.Optional[float] = None,  # noqa: UP045 - as many write it
) -> str:
    """Keep a person."""
    said = (type(person).__name__, [type(home).__name__ for home in homes], filters, unit.name)
    return repr((*said, mode, share, person.home))


def test_inputs_arrive_as_what_the_function_declared(observe: Callable[..., Any]) -> None:
    home: dict[str, Any] = {"street": "High Street", "number": 7}
    ada = Person(name="Ada", age=36, home=Address(**home))
    inputs = {
        "person": {"name": "Ada", "age": 36, "home": home},
        "homes": [home, {"street": "Low Street"}],
        "filters": [{"field": "name", "words": ["a"]}, {"field": "age"}],
        "unit": "ft",
        "share": 1,
    }

    assert observe(keep, inputs).observation.text == repr(
        ("Person", ["Address", "Address"], inputs["filters"], "FOOT", "fast", 1.0, ada.home)
    )


def test_what_is_wrong_within_an_input_is_named(observe: Callable[..., Any]) -> None:
    seen = observe(keep, {"person": {"name": "Ada", "age": -1}, "homes": [{"number": "x"}]})

    assert seen.observation.error == "InvalidInputs"
    for where in ("person.age", "homes.0.street", "homes.0.number"):
        assert where in seen.observation.text


def test_nested_inputs_are_told_with_their_fields_and_plain_ones_in_words() -> None:
    told = describe_inputs(keep)

    assert "$ref" not in told
    assert "person (object, required, JSON Schema {" in told
    assert '"age": {"description": "in years", "minimum": 0, "type": "integer"}' in told
    assert '"street": {"type": "string"}' in told
    assert "filters (array of object, optional, JSON Schema {" in told
    assert '"words": {"items": {"type": "string"}, "type": "array"}' in told
    assert 'unit (one of m, ft, optional, default "m")' in told
    assert 'mode (one of fast, exact, optional, default "fast")' in told
    assert "share (number, optional)" in told
    assert "\n" not in told


def test_ranges_and_defaults_are_told() -> None:
    @tool()
    def roll(sides: Annotated[int, Field(ge=2, le=20, description="of the die")] = 6) -> int:
        """Roll a die."""
        return sides

    assert describe_inputs(roll) == (
        "sides (integer, optional, at least 2, at most 20, default 6): of the die"
    )


def test_a_type_that_holds_itself_is_told_a_few_levels_deep(observe: Callable[..., Any]) -> None:
    @tool()
    def plant(tree: Tree) -> int:
        """Plant a tree."""
        return len(tree.children[0].children)

    inner = {"name": "twig", "children": [{"name": "leaf"}]}

    assert len(describe_inputs(plant)) < 7_000
    assert "$ref" not in describe_inputs(plant)
    assert observe(plant, {"tree": {"name": "oak", "children": [inner]}}).observation.text == "1"


def test_a_schema_too_long_to_tell_is_told_less_deep() -> None:
    form: Any = str
    for level in range(4):
        fields: dict[str, Any] = {f"field_{level}_{number}": (form, ...) for number in range(6)}
        form = create_model(f"Level{level}", **fields)

    def fill(form: Any) -> str:
        """Fill a long form."""
        return str(form)

    fill.__annotations__["form"] = form
    told = describe_inputs(tool()(fill))

    assert len(told) < 7_000
    assert "field_3_5" in told


def test_a_type_that_no_schema_describes_is_refused_where_it_is_declared() -> None:
    def connect(to: socket.socket) -> str:
        """Connect."""
        return str(to)

    with pytest.raises(ConfigurationError, match="'connect' cannot be told to a model"):
        tool()(connect)


def test_an_input_of_a_plain_type_is_unchanged(observe: Callable[..., Any]) -> None:
    made: Tool = tool()(_repeat)

    assert describe_inputs(made) == "text (string, required); times (integer, optional, default 2)"
    assert observe(made, {"text": "ab"}).observation.text == "abab"


def _repeat(text: str, times: int = 2) -> str:
    """Repeat a text."""
    return text * times
