"""JSON objects as models write them: mended where it is plain how, else refused."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ParseError
from agents.reading.json_repair import read_object

NUMBERS = st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}),
        ('{"a": 1', {"a": 1}),
        ('{"a": {"b": [1', {"a": {"b": [1]}}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": {"b": 1}\nObservation: 3', {"a": {"b": 1}}),
        ('{"a": 1```', {"a": 1}),
        ('{"a": 1 // one\n, "b": 2}', {"a": 1, "b": 2}),
        ('{"a": 1} // done', {"a": 1}),
        ('{"a": 1} and so on {"b": 2}', {"a": 1}),
        ('{\r\n  "a": 1,\r\n}', {"a": 1}),
        ('{"a": "raw\nline"}', {"a": "raw\nline"}),
        ("{'a': 'it', \"b\": [True, None]} // done", {"a": "it", "b": [True, None]}),
        ('{"a": [1,\nNone]}', {"a": [1, None]}),
        ('{"a": "\\ud800"}', {"a": "�"}),
    ],
)
def test_it_is_read_as_meant(text: str, value: dict[str, Any]) -> None:
    assert read_object(text).value == value


@pytest.mark.parametrize("inside", ["a,}", "[1,]", "```json", "// no", "}}", "Action: {", ",]"])
def test_text_inside_a_string_is_never_touched(inside: str) -> None:
    assert read_object(json.dumps({"a": inside}) + ",}").value == {"a": inside}


@pytest.mark.parametrize(
    "text",
    [
        "{'a': (1, 2)",
        "{'a': {1, 2}}",
        "{'a': f()}",
        "{'a': 1e999}",
        '{"a": "never ends',
        '{"a": 1, "b": "never',
        '{"a":',
        '{"a"',
        "{",
        '{"a": 2 + 2}',
        '{"a": "x" + "y"}',
        '{"a": "x" "b": 1}',
        '{"a": [1,, 2]}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5_000 + "}",
        '{"a": ' + "[" * 200,
        '{"a": 1]}',
    ],
)
def test_no_value_is_invented(text: str) -> None:
    with pytest.raises(ParseError):
        read_object(text)


@given(OBJECTS)
def test_what_json_writes_is_read_back(value: dict[str, Any]) -> None:
    assert read_object(json.dumps(value)).value == value


@given(OBJECTS, st.integers(0, 200))
def test_half_an_object_is_read_or_refused(value: dict[str, Any], length: int) -> None:
    text = json.dumps(value)[: max(1, length)]

    try:
        found = read_object(text).value
    except ParseError:
        return
    assert found.keys() <= value.keys()


@given(st.text('{}[]",:\\/ \n\r1.e-tfnulaA`<*#'))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ParseError):
        assert isinstance(read_object("{" + text).value, dict)


@pytest.mark.parametrize("unit", ['"', "{", '{"a":', "[", ",", "\\", "1 ", ":", "'"])
def test_a_hostile_megabyte_is_refused(unit: str) -> None:
    with pytest.raises(ParseError):
        read_object('{"a": 1, ' + unit * (1_000_000 // len(unit)))


@pytest.mark.parametrize("unit", ['"a": 1,', "\n", "//", " "])
def test_a_megabyte_of_what_adds_nothing_is_read(unit: str) -> None:
    assert read_object('{"a": 1, ' + unit * (1_000_000 // len(unit))).value == {"a": 1}
