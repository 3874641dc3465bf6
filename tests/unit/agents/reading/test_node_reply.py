"""The node reader: a JSON object {kind, text} out of good, broken and hostile replies."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import Thought, ThoughtKind
from agents.events import AnswerDelta, ThoughtDelta
from agents.reading.node_reply import UNREADABLE, NodeReader

THOUGHT = Thought(kind=ThoughtKind.THOUGHT, text="ok")
ACTION = Thought(kind=ThoughtKind.ACTION, text="ok")
FINAL = Thought(kind=ThoughtKind.FINAL, text="", answer="ok")
FALLBACK = Thought(kind=ThoughtKind.THOUGHT, text=UNREADABLE)


def read(reply: str, size: int | None = None) -> tuple[Thought, list[ThoughtDelta | AnswerDelta]]:
    reader = NodeReader()
    size = size or max(1, len(reply))
    deltas = [
        delta
        for start in range(0, len(reply), size)
        for delta in reader.feed(reply[start : start + size])
    ]
    deltas += reader.finish()
    return reader.node, deltas


def answer(text: str) -> Thought:
    return Thought(kind=ThoughtKind.FINAL, text="", answer=text)


REPLIES = {
    "a thought": ('{"kind": "THOUGHT", "text": "ok"}', THOUGHT),
    "an action": ('{"kind": "ACTION", "text": "ok"}', ACTION),
    "an answer": ('{"kind": "FINAL", "text": "ok"}', FINAL),
    "spaces and small letters": ('{"kind": " final ", "text": " ok "}', FINAL),
    "text first": ('{"text": "ok", "kind": "FINAL"}', FINAL),
    "a fence": ('```json\n{"kind": "FINAL", "text": "ok"}\n```', FINAL),
    "prose around": ('Sure {thing}! {"kind": "FINAL", "text": "ok"} Bye {"kind": "ACTION"}', FINAL),
    "thinking before": (
        '<think>{"kind": "ACTION", "text": "no"}</think>{"kind": "FINAL", "text": "ok"}',
        FINAL,
    ),
    "other keys": (
        '{"n": {"kind": "x}"}, "l": [1, "]"], "kind": "FINAL", "text": "ok", "z": 1}',
        FINAL,
    ),
    "a list around": ('[{"kind": "FINAL", "text": "ok"}]', FINAL),
    "a trailing comma": ('{"kind": "FINAL", "text": "ok",}', FINAL),
    "no end": ('{"kind": "FINAL", "text": "ok"', FINAL),
    "a text cut off": ('{"kind": "FINAL", "text": "ok', FINAL),
    "a kind cut off": ('{"text": "ok", "kind": "FINAL"', FINAL),
    "doubled keys": ('{"kind": "FINAL", "text": "ok", "text": "no"}', FINAL),
    "capital keys": ('{"Kind": "FINAL", "TEXT": "ok"}', FINAL),
    "a number as text": ('{"kind": "FINAL", "text": 42}', answer("42")),
    "escapes": (r'{"kind": "FINAL", "text": "a\n\t\"b\" \\ \/ \u00e9"}', answer('a\n\t"b" \\ / é')),
    "a surrogate pair": (r'{"kind": "FINAL", "text": "\ud83d\ude00"}', answer("\U0001f600")),
    "half a pair": (r'{"kind": "FINAL", "text": "a\ud83db"}', answer("a\ufffdb")),
    "a NUL": (r'{"kind": "FINAL", "text": "a\u0000b"}', answer("a\ufffdb")),
    "a raw newline": ('{"kind": "FINAL", "text": "a\nb"}', answer("a\nb")),
    "unescaped quotes": ('{"kind": "FINAL", "text": "say "hi" now"}', answer('say "hi" now')),
    "an empty text": ('{"kind": "FINAL", "text": ""}', FALLBACK),
    "a blank text": ('{"kind": "FINAL", "text": "  "}', FALLBACK),
    "no text": ('{"kind": "FINAL"}', FALLBACK),
    "an unknown kind": ('{"kind": "DANCE", "text": "ok"}', FALLBACK),
    "no kind": ('{"text": "ok"}', FALLBACK),
    "null": ('{"kind": "FINAL", "text": null}', FALLBACK),
    "an object as text": ('{"kind": "FINAL", "text": {"a": "b"}}', FALLBACK),
    "no JSON": ("bad", FALLBACK),
    "nothing": ("", FALLBACK),
}


@pytest.mark.parametrize(("text", "expected"), REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("size", [None, 1, 2, 5])
def test_a_node_is_read_as_it_is_meant_in_any_chunks(
    text: str, expected: Thought, size: int | None
) -> None:
    node, _ = read(text, size)

    assert node == expected


@pytest.mark.parametrize(("text", "expected"), REPLIES.values(), ids=REPLIES)
def test_what_is_shown_is_what_is_kept(text: str, expected: Thought) -> None:
    _, deltas = read(text, 1)

    shown = "".join(delta.text for delta in deltas)
    assert shown == ("" if expected == FALLBACK else expected.answer or expected.text)


def test_an_answer_streams_while_it_is_written() -> None:
    reader = NodeReader()

    deltas = list(reader.feed('{"kind": "FINAL", "text": "the first wor'))

    assert deltas == [AnswerDelta(text="the first wor")]


def test_a_thought_streams_as_thought() -> None:
    _, deltas = read('{"kind": "ACTION", "text": "ok"}')

    assert deltas == [ThoughtDelta(text="ok")]


def test_nothing_is_shown_before_its_kind_is_known() -> None:
    reader = NodeReader()

    deltas = list(reader.feed('{"text": "ok", "ki'))

    assert deltas == []


@given(
    kind=st.sampled_from(list(ThoughtKind)),
    text=st.text(),
    ascii_only=st.booleans(),
    size=st.integers(1, 9),
)
def test_any_text_survives_json_and_chunks(
    kind: ThoughtKind, text: str, ascii_only: bool, size: int
) -> None:
    reply = json.dumps({"kind": kind, "text": f"a{text}z"}, ensure_ascii=ascii_only)

    node, _ = read(reply, size)

    kept = f"a{text}z".replace("\x00", "\ufffd")
    assert (node.answer or node.text) == kept


HOSTILE = st.lists(
    st.sampled_from(
        [*'{}[]":,\\\n tu', '"kind"', '"text"', '"FINAL"', "\\ud83d", "<think>", "</think>", "null"]
    ),
    max_size=60,
).map("".join)


@given(text=HOSTILE, size=st.integers(1, 9))
def test_no_text_and_no_chunks_confuse_the_reader(text: str, size: int) -> None:
    node, deltas = read(text, size)

    assert node == read(text)[0]
    shown = "".join(delta.text for delta in deltas)
    assert shown == ("" if node.text == UNREADABLE else node.answer or node.text)


@pytest.mark.parametrize("unit", ["{", '"', '{"a":', "\\", '" ', '{"kind":"FINAL",', "[", "\n"])
def test_a_hostile_megabyte_is_read_to_its_end(unit: str) -> None:
    hostile = unit * (1_000_000 // len(unit))

    node, _ = read(hostile + '"}]{"kind": "FINAL", "text": "ok"}', 4096)

    assert node.kind in ThoughtKind
