"""A standard prompt is checked strictly, and read into messages that every provider takes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.compat.standard_prompt import check_prompt, read_prompt
from agents.contracts import Role, ToolCall
from agents.errors import ConfigurationError

CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ({"role": "user", "content": "x"}, "valid list"),
        ("hello", "valid list"),
        ([{"role": "bot", "content": "x"}], "message 1: role: "),
        ([{"role": "user", "content": None}], "the content of a user message must be text"),
        ([{"role": "system", "content": {"a": 1}}], "the content of a system message must be text"),
        ([{"role": "user", "content": 7}], "message 1: content"),
        ([{"role": "user"}], "message 1: content: Field required"),
        ([{"role": "user", "content": "x", "foo": 1}], "message 1: foo: Extra inputs"),
        ([{"role": "user", "content": "x", "tool_calls": [CALL]}], "cannot have tool_calls"),
        (
            [{"role": "user", "content": "x"}, {"role": "tool", "content": "x"}],
            "message 2: a tool message must name its tool_call_id",
        ),
        ([{"role": "tool_result", "content": "x"}], "must name its tool_call_id"),
        (
            [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{**CALL, "function": {"name": "f", "arguments": {}}}],
                }
            ],
            "tool_calls.0.function.arguments",
        ),
        ([{"role": "tool", "content": "x", "tool_call_id": "9"}], "nobody asked for"),
    ],
)
def test_what_is_wrong_is_named(prompt: object, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_prompt(prompt)

    assert words in str(refused.value)


def test_a_conversation_with_calls_becomes_messages() -> None:
    prompt: list[dict[str, Any]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u", "name": "ada"},
        {"role": "assistant", "content": "I look.", "tool_calls": [CALL, {**CALL, "id": "2"}]},
        {"role": "tool", "content": "one", "tool_call_id": "1"},
        {"role": "tool_result", "content": {"two": 2}, "tool_call_id": "2", "name": "f"},
        {"role": "assistant", "content": None},
    ]

    messages = read_prompt(prompt)

    call = ToolCall(tool="f", inputs={"x": 1})
    assert [(m.role, m.content, m.call, m.call_id) for m in messages] == [
        (Role.SYSTEM, "s", None, ""),
        (Role.USER, "u", None, ""),
        (Role.TOOL_REQUEST, "I look.", call, "1"),
        (Role.TOOL_REQUEST, "", call, "2"),
        (Role.TOOL_RESULT, "one", call, "1"),
        (Role.TOOL_RESULT, '{"two": 2}', call, "2"),
        (Role.ASSISTANT, "", None, ""),
    ]


def test_arguments_that_are_no_object_are_kept_as_text() -> None:
    written = {
        "role": "tool_request",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "half {"}}],
    }

    (message,) = read_prompt([written])

    assert message.call == ToolCall(tool="f", inputs={"input": "half {"})


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "x"]), inner)
        ),
    )
)
def test_any_value_is_a_prompt_or_refused_in_words(value: object) -> None:
    if isinstance(value, list) and not value:
        assert check_prompt(value) == []
        return
    with pytest.raises(ConfigurationError, match=r"This is no standard prompt: \S"):
        check_prompt(value)
