"""Values shown in small, with no secret in them."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from agents.terminal.page import plain
from agents.terminal.preview import REDACTED, preview

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
)


@given(JSON)
def test_any_value_has_a_preview_that_is_json(value: object) -> None:
    json.dumps(preview(value))


def test_what_lies_too_deep_is_left_out() -> None:
    value: object = "end"
    for _ in range(5_000):
        value = [value]

    assert json.dumps(preview(value)).count("[") < 20


def test_a_word_that_only_sounds_like_a_secret_is_shown() -> None:
    harmless = {"tokens": 3, "author": "a", "keyboard": "b", "max_tokens": 5, "primary_key": 1}

    assert preview(harmless) == harmless


def test_a_secret_is_hidden_whatever_it_holds() -> None:
    assert preview({"Authorization": ["Bearer x"], "db_password_2": {"a": 1}}) == {
        "Authorization": REDACTED,
        "db_password_2": REDACTED,
    }


def test_a_megabyte_is_previewed_at_once() -> None:
    began = time.process_time()

    preview({"a" * 1_000_000: ["b" * 1_000_000] * 1_000})

    assert time.process_time() - began < 5


def test_plain_text_keeps_its_lines_and_no_commands() -> None:
    assert plain("a\tb\n\x1b[31mc\r\x9b2J\u202ed") == "a\tb\n[31mc2Jd"
