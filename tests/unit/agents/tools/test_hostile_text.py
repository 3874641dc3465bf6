"""Whatever a page, a schema or a model writes, the tools read it without breaking."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.errors import ConfigurationError, ToolFailed
from agents.tools.json_inputs import JsonInputs, readable
from agents.tools.web.address import web_url
from agents.tools.web.page_text import decoded, page_text
from agents.tools.web.wikipedia import _sentences

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
CHARSETS = st.sampled_from(["", "utf-8", "latin-1", "utf-16", "nope", "hex", "punycode", "a\x00b"])


@given(st.binary(), CHARSETS, st.text())
def test_any_bytes_are_read_as_a_page(body: bytes, charset: str, url: str) -> None:
    assert isinstance(page_text(body, charset, url), str)
    assert isinstance(decoded(body, charset), str)


@given(st.text(alphabet="<>/=\"' abdivphref:&;!-#\n"))
def test_any_markup_is_read_as_a_page(markup: str) -> None:
    text = page_text(markup.encode(), "utf-8", "https://example.org/")

    assert "\n\n\n" not in text


@given(JSON)
@settings(max_examples=200)
def test_any_schema_is_taken_or_refused_in_words(schema: Any) -> None:
    told = schema if isinstance(schema, dict) else {"properties": {"a": schema}}

    with suppress(ConfigurationError):
        inputs = JsonInputs(told)
        list(inputs.complaints({"a": 1}))
        json.dumps(inputs.schema, default=str)


@given(st.text())
def test_any_text_is_a_web_address_or_refused_in_words(text: str) -> None:
    with suppress(ToolFailed):
        assert web_url(text).scheme in ("http", "https")


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_a_strangers_text_is_one_short_line(text: str, most: int) -> None:
    line = readable(text, most)

    assert len(line) <= most
    assert line.isprintable()
    assert "</" not in line


@given(st.text(alphabet="ab.!? \nA\u00c9("))
def test_sentences_lose_nothing_but_space(text: str) -> None:
    assert "".join("".join(_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "unit", ["<div>", "<a href='", "&", "<!--", "</", "<table><tr>", "<pre>\n"]
)
def test_a_megabyte_of_hostile_markup_is_read(unit: str) -> None:
    body = (unit * (1_000_000 // len(unit))).encode()

    assert isinstance(page_text(body, "utf-8", "https://example.org/"), str)


@pytest.mark.parametrize("unit", [". ", "a. A", "! (", "\n", "a b. "])
def test_a_megabyte_of_hostile_sentences_is_split(unit: str) -> None:
    assert isinstance(_sentences(unit * (1_000_000 // len(unit))), list)
