"""What a structured reply shows while it streams: its thought, and the answer in its action."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.events import AnswerDelta
from agents.reading.structured.reply import StructuredReader

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
BROKEN = st.lists(
    st.sampled_from(
        [
            *('{"thought": "t", ', '"action": {', '"tool": "complete"', '"tool": "add"', "{", "}"),
            *('"parameters": {', '"result": "', '"other": "', '"', ", ", ": ", "tool", "\\", "\n"),
            *("[", "]", '"x"', "null", "1", "word", '"result": {"a": "b"}'),
        ]
    ),
    max_size=14,
).map("".join)


def read(text: str, size: int | None = None) -> tuple[StructuredReader, list[str], int]:
    """Return the reader, the pieces of the answer as they were shown, and where it was done."""
    reader = StructuredReader(["complete", "add"], lambda tool: tool == "complete")
    shown: list[str] = []
    step, done_at = size or max(1, len(text)), -1
    for start in range(0, len(text), step):
        events = list(reader.feed(text[start : start + step]))
        shown += [event.text for event in events if isinstance(event, AnswerDelta)]
        done_at = start + step if reader.done and done_at < 0 else done_at
    list(reader.finish())
    return reader, shown, done_at


def reply(tool: str = "complete", **parameters: Any) -> str:
    return json.dumps({"thought": "t", "action": {"tool": tool, "parameters": parameters}})


def test_the_answer_comes_in_pieces_while_the_reply_does() -> None:
    reader, shown, _ = read(reply(result="one two three\nfour"), 4)

    assert len(shown) > 3
    assert "".join(shown) == reader.answer == "one two three\nfour"


@pytest.mark.parametrize(
    "text",
    [
        reply("add", result="no answer"),
        reply(other="no answer"),
        json.dumps({"action": {"parameters": {"result": "too early"}, "tool": "complete"}}),
        json.dumps({"parameters": {"result": "elsewhere"}, "action": {"tool": "complete"}}),
        json.dumps({"thought": "t", "action": {"tool": "complete", "result": "beside"}}),
        json.dumps({"thought": "t", "action": {"tool": "complete", "parameters": {"result": {}}}}),
    ],
)
def test_nothing_else_is_shown_as_the_answer(text: str) -> None:
    assert read(text, 3)[1] == []


@given(thought=TEXTS, answer=TEXTS, extra=TEXTS, size=st.integers(1, 20))
def test_any_answer_is_shown_as_it_was_written(
    thought: str, answer: str, extra: str, size: int
) -> None:
    action = {"tool": "complete", "parameters": {"why": extra, "result": answer}}
    text = json.dumps({"thought": thought, "action": action, "confidence": 0.5})

    reader, shown, done_at = read(text, size)

    assert "".join(shown) == answer.strip()
    assert reader.thought == thought.strip()
    assert done_at >= len(text)


@given(text=BROKEN, size=st.integers(1, 7))
def test_chunks_change_nothing_and_a_reply_is_not_done_too_early(text: str, size: int) -> None:
    (whole, shown, _), (chunked, pieces, _) = read(text), read(text, size)

    assert "".join(shown) == "".join(pieces)
    assert (whole.reply, whole.thought) == (chunked.reply, chunked.thought)


@pytest.mark.parametrize(
    "inner",
    ['{tool: "add", x: 1}', '{"tool" "add"}', '{"tool": "add", ["x"]}', '{"a": {"b": [1, "}"]}}'],
)
def test_an_action_that_is_badly_written_does_not_end_the_reply(inner: str) -> None:
    text = f'{{"thought": "t", "action": {inner}, "confidence": 1}}'

    _, _, done_at = read(text, 1)

    assert done_at == len(text)
