"""The work of every reader grows with the reply and no faster, whatever it says."""

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.events import AnswerDelta
from agents.reading.action_reply import ActionReader
from agents.reading.markup.answer_reply import AnswerReader
from agents.reading.markup.reader import MarkedReader
from agents.reading.node_reply import NodeReader
from agents.reading.plan_reply import PlanReader
from agents.reading.structured.reply import StructuredReader
from agents.reading.text_reply import ReplyReader

LENGTH = 2_000
A_FEW_CALLS = 1_000


class Reader(Protocol):
    """What reads a reply in chunks."""

    def feed(self, chunk: str, /) -> Iterable[object]: ...

    def finish(self, *, is_cut: bool) -> Iterable[object]: ...


def is_calc(name: str) -> bool:
    """Tell whether a name is that of the one tool there is."""
    return name == "calc"


READERS: dict[str, Callable[[], Reader]] = {
    "text": ReplyReader,
    "action": ActionReader,
    "node": NodeReader,
    "structured": lambda: StructuredReader(["calc"]),
    "plan": PlanReader,
    "marked text": lambda: MarkedReader(ReplyReader, is_calc),
    "marked action": lambda: MarkedReader(ActionReader, is_calc),
    "of a model that thinks first": lambda: MarkedReader(ReplyReader, is_calc, thinks_first=True),
    "answer": lambda: AnswerReader(lambda text: AnswerDelta(text=text), known=is_calc),
}

PIECES = st.sampled_from(
    [
        *("Thought:", "Action:", "Action Input:", "Final Answer:", "Observation:", "**Action:**"),
        *("\n", "\r\n", " ", "\t", "```", "~~~", "<think>", "</think>", "<", "**", "# ", "`"),
        *('{"tool": ', '"thought": "', "{", "}", "[", "]", '"', "\\\\", ",", ":", "none", "null"),
        *("a", "act", "fin", "tool calls:", "<tool_call>", "- ", "1. ", "\x00", "\ud800", "é"),
        *(
            "</tool_call>",
            "<|channel|>",
            "<|message|>",
            "to=calc",
            "[TOOL_CALLS]",
            "<answer>",
            "<|x|>",
        ),
        *(
            "<invoke name=",
            "<parameter=a>",
            "</parameter>",
            "<arg_key>",
            '<|"|>',
            "<escape>",
            "calc(",
        ),
        *(
            "functools[",
            ">>>calc\n",
            "Answer:",
            '{"name": "calc", "arguments": {',
            "'",
            "=",
            "“",
            "\\d",
        ),
    ]
)
UNITS = st.lists(PIECES, min_size=1, max_size=4).map("".join)


def calls(make: Callable[[], Reader], text: str, size: int) -> int:
    """Return how many functions are called to read the text in chunks of this size."""
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    reader = make()
    before = sys.getprofile()
    sys.setprofile(see)
    try:
        for start in range(0, len(text), size):
            list(reader.feed(text[start : start + size]))
        list(reader.finish(is_cut=False))
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("make", READERS.values(), ids=READERS)
@given(before=UNITS, unit=UNITS, size=st.sampled_from([1_000_000, 5]))
@settings(max_examples=25)
def test_four_times_the_reply_is_four_times_the_work(
    make: Callable[[], Reader], before: str, unit: str, size: int
) -> None:
    once = unit * (LENGTH // len(unit))

    work, more_work = calls(make, before + once, size), calls(make, before + 4 * once, size)

    assert more_work <= 7 * work + A_FEW_CALLS  # text is held back at first; a square is 16


@pytest.mark.parametrize("before", ["", "Final Answer: a\nAction: b\n"])
@pytest.mark.parametrize("unit", ["a\n", "```\n", "final\n", "Action: x\n"])
@pytest.mark.parametrize("size", [1_000_000, 5])
def test_a_hostile_megabyte_in_many_lines_is_read_to_its_end(
    before: str, unit: str, size: int
) -> None:
    text = before + unit * (1_000_000 // len(unit))
    reader = ReplyReader()

    for start in range(0, len(text), size):
        reader.feed(text[start : start + size])
    reader.finish()

    reply = reader.reply
    assert len(reply.thought) + len(reply.answer) + len(reply.tool) <= len(text)


@pytest.mark.parametrize("before", ["", "<tool_call>", "Action: calc\nAction Input: "])
@pytest.mark.parametrize("unit", ["`", "{", "[", "<", "(", "'", "\n", "a\n", "<|x|>", "“", "\\"])
def test_a_hostile_text_is_looked_at_again_in_time(before: str, unit: str) -> None:
    reader = MarkedReader(ReplyReader, is_calc)

    list(reader.feed(before + unit * (500_000 // len(unit))))
    list(reader.finish())

    assert not reader.reading.answer
