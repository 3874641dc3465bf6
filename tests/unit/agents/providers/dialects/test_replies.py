"""Whatever bytes a server sends, a reply is read or a ProviderError says why not."""

import copy
import json
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.errors import ProviderError
from agents.providers.base import CallDelta, Finish, NativeCall, Token
from agents.providers.chunks.anthropic import MessageReply
from agents.providers.chunks.gemini import Response
from agents.providers.chunks.ollama import ChatReply
from agents.providers.chunks.openai import Completion
from agents.providers.wire.faults import Faults
from agents.providers.wire.replies import ChunkReader, read_reply

CALL = {"name": "add", "arguments": '{"a": 1}'}
USE = {"type": "tool_use", "name": "add", "input": {}}
VALID: dict[type[ChunkReader], list[Any]] = {
    Completion: [
        {"choices": [{"delta": {"content": "a", "reasoning": "b"}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": CALL}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}},
    ],
    MessageReply: [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 1, "content_block": USE},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {}},
        {"type": "message", "content": [USE], "stop_reason": "end_turn"},
    ],
    Response: [
        {"candidates": [{"content": {"parts": [{"text": "a", "thought": True}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "add", "args": {}}}]}}]},
        {"candidates": [{"finishReason": "SAFETY"}], "usageMetadata": {"promptTokenCount": 1}},
        {"promptFeedback": {"blockReason": "OTHER"}},
    ],
    ChatReply: [
        {"message": {"content": "a", "thinking": "b", "tool_calls": [{"function": CALL}]}},
        {"message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 1},
    ],
}
KINDS = list(VALID)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=6,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to everything inside `value`."""
    names: Iterable[Any] = value if isinstance(value, dict) else ()
    for name in range(len(value)) if isinstance(value, list) else names:
        yield (*here, name)
        yield from places(value[name], (*here, name))


def read(
    kind: type[ChunkReader], pieces: list[bytes]
) -> list[Token | CallDelta | NativeCall | Finish]:
    try:
        return list(read_reply(pieces, kind(Faults(place="here"))))
    except ProviderError:
        return []


@pytest.mark.parametrize("kind", KINDS)
@given(pieces=st.lists(st.binary(max_size=60), max_size=6))
@example(pieces=[b"data: {", b"}\n\n"])
@example(pieces=[b"\xef\xbb\xbf{}"])
def test_any_bytes_are_read_or_named(kind: type[ChunkReader], pieces: list[bytes]) -> None:
    items = read(kind, pieces)

    assert not items or isinstance(items[-1], Finish)


@pytest.mark.parametrize("kind", KINDS)
@given(drawn=st.data())
def test_chunks_with_anything_in_the_place_of_a_part_are_read_or_named(
    kind: type[ChunkReader], drawn: st.DataObject
) -> None:
    chunks = copy.deepcopy(VALID[kind])
    *way, last = drawn.draw(st.sampled_from(list(places(chunks))))
    reduce(lambda value, name: value[name], way, chunks)[last] = drawn.draw(JSON)
    form = "{}\n" if kind is ChatReply else "data: {}\n\n"

    items = read(kind, [form.format(json.dumps(chunk)).encode() for chunk in chunks])

    assert sum(isinstance(item, Finish) for item in items) == bool(items)


@pytest.mark.parametrize(
    ("inputs", "shown"),
    [
        ('{"a": ', '{"tool": "add", "inputs": "{\\"a\\": "}'),
        ("[" * 100_000, '{"tool": "add", "inputs": "' + "[" * 100_000 + '"}'),
        ('{"a": "\\ud800\\u0000"}', '{"tool": "add", "inputs": {"a": "\ufffd\\u0000"}}'),
        ("", '{"tool": "add", "inputs": {}}'),
    ],
)
def test_inputs_that_cannot_be_read_are_written_as_they_came(inputs: str, shown: str) -> None:
    call = {"index": 0, "function": {"name": "add", "arguments": inputs}}
    choice = {"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}

    _, made, _ = read(Completion, [f"data: {json.dumps({'choices': [choice]})}\n\n".encode()])

    assert isinstance(made, NativeCall)
    assert made.written == shown
