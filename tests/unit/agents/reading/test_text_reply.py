"""The text format's reader: what it makes of good, broken and hostile replies, in any chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.events import AnswerDelta
from agents.reading.text_reply import ReplyReader, TextReply

ACTION = TextReply(thought="t", tool="search", tool_input="q")
FINAL = TextReply(thought="t", answer="a")


def read(reply: str, size: int | None = None) -> tuple[TextReply, str, str]:
    """Return the reply, and the thought and the answer as they were shown."""
    reader = ReplyReader()
    size = size or max(1, len(reply))
    deltas = [
        delta
        for start in range(0, len(reply), size)
        for delta in reader.feed(reply[start : start + size])
    ]
    deltas += reader.finish()
    answer = "".join(delta.text for delta in deltas if isinstance(delta, AnswerDelta))
    thought = "".join(delta.text for delta in deltas if not isinstance(delta, AnswerDelta))
    return reader.reply, thought, answer


REPLIES = {
    "an action": ("Thought: t\nAction: search\nAction Input: q", ACTION),
    "an answer": ("Thought: t\nFinal Answer: a", FINAL),
    "no first label": ("t\nAction: search\nAction Input: q", ACTION),
    "small letters": ("thought: t\naction: search\naction input: q", ACTION),
    "capitals": ("THOUGHT: t\nACTION: search\nACTION INPUT: q", ACTION),
    "space before colons": ("Thought : t\nAction  : search\nAction Input\t: q", ACTION),
    "no space in labels": ("Thought:t\nAction:search\nActionInput:q", ACTION),
    "underscores": ("Thought: t\nAction: search\naction_input: q", ACTION),
    "bold labels": ("**Thought:** t\n**Action:** search\n**Action Input:** q", ACTION),
    "bold words": ("**Thought**: t\n**Action**: search\n**Action Input**: q", ACTION),
    "headings": ("## Thought: t\n### Action: search\n### Action Input: q", ACTION),
    "numbered labels": ("Thought 1: t\nAction 1: search\nAction Input 1: q", ACTION),
    "wide colons": ("Thought\uff1a t\nAction\uff1a search\nAction Input\uff1a q", ACTION),
    "carriage returns": ("Thought: t\r\nAction: search\r\nAction Input: q\r\n", ACTION),
    "indented labels": ("  Thought: t\n  Action: search\n  Action Input: q", ACTION),
    "blank lines": ("\n\nThought: t\n\n\nAction: search\n\nAction Input: q\n\n", ACTION),
    "values below labels": ("Thought:\nt\nAction:\nsearch\nAction Input:\nq", ACTION),
    "action after thought": (
        "Thought: Action: search\nAction Input: q",
        TextReply("", "search", "q"),
    ),
    "a quoted name": ("Thought: t\nAction: `search`\nAction Input: q", ACTION),
    "a bold name": ("Thought: t\nAction: **search**\nAction Input: q", ACTION),
    "a call": ("Thought: t\nAction: search(q)", ACTION),
    "a call in brackets": ("Thought: t\nAction: search[q]", ACTION),
    "name and input in one line": ("Thought: t\nAction: search Action Input: q", ACTION),
    "no input": ("Thought: t\nAction: search", TextReply("t", "search", "")),
    "a thought afterwards": ("Action: search\nAction Input: q\nThought: t", ACTION),
    "invented observation": (
        "Thought: t\nAction: search\nAction Input: q\nObservation: fake\nFinal Answer: no",
        ACTION,
    ),
    "invented bold observation": (
        "Thought: t\nAction: search\nAction Input: q\n**Observation:** fake",
        ACTION,
    ),
    "an answer after the action": (
        "Thought: t\nAction: search\nAction Input: q\nFinal Answer: no",
        ACTION,
    ),
    "an action after the answer": (
        "Thought: t\nFinal Answer: a\nAction: search\nAction Input: q",
        FINAL,
    ),
    "a thought after the answer": ("Thought: t\nFinal Answer: a\nThought: more", FINAL),
    "an observation after the answer": ("Thought: t\nFinal Answer: a\nObservation: x", FINAL),
    "two actions": (
        "Thought: t\nAction: search\nAction Input: q\nAction: other\nAction Input: r",
        ACTION,
    ),
    "two answers": ("Thought: t\nFinal Answer: a\nFinal Answer: b", FINAL),
    "action none": ("Thought: t\nAction: None\nFinal Answer: a", FINAL),
    "action none with input": (
        "Thought: t\nAction: N/A\nAction Input: none\nFinal Answer: a",
        FINAL,
    ),
    "an action without input before the answer": (
        "Thought: t\nAction: search\nFinal Answer: a",
        FINAL,
    ),
    "an empty answer before an action": (
        "Thought: t\nFinal Answer:\nAction: search\nAction Input: q",
        ACTION,
    ),
    "two thoughts": ("Thought: t\nThought: u\nFinal Answer: a", TextReply("t\nu", answer="a")),
    "lines in a thought": ("Thought: t\nu\nFinal Answer: a", TextReply("t\nu", answer="a")),
    "lines in an input": (
        "Thought: t\nAction: run\nAction Input: a = 1\nb = 2\n\nprint(a)",
        TextReply("t", "run", "a = 1\nb = 2\n\nprint(a)"),
    ),
    "lines in an answer": (
        "Final Answer: one\n\ntwo\nthree\n",
        TextReply(answer="one\n\ntwo\nthree"),
    ),
    "emphasis at the answer's begin": ("Final Answer: **a** b", TextReply(answer="**a** b")),
    "emphasis around label and answer": ("**Final Answer:** **a**", TextReply(answer="**a**")),
    "an action as a line of the answer": (
        "Final Answer: Do this:\nAction: buy milk\nthen rest",
        TextReply(answer="Do this:\nAction: buy milk\nthen rest"),
    ),
    "an action as the answer's last line": (
        "Final Answer: Do this:\nAction: buy milk",
        TextReply(answer="Do this:\nAction: buy milk"),
    ),
    "labels within lines": (
        "Thought: the Action: is Final Answer: to come\nFinal Answer: see Observation: 3",
        TextReply("the Action: is Final Answer: to come", answer="see Observation: 3"),
    ),
    "a fenced label in a thought": (
        "Thought: like\n```\nAction: x\nObservation: y\n```\nFinal Answer: a",
        TextReply("like\n```\nAction: x\nObservation: y\n```", answer="a"),
    ),
    "a fenced label in an answer": (
        "Final Answer: write\n~~~~text\nObservation: y\n~~~\nThought: z\n~~~~\nso",
        TextReply(answer="write\n~~~~text\nObservation: y\n~~~\nThought: z\n~~~~\nso"),
    ),
    "a fence beside the label": (
        "Thought: t\nAction: run\nAction Input: ```python\nThought: x\n```\nObservation: 3",
        TextReply("t", "run", "```python\nThought: x\n```"),
    ),
    "ticks that are no fence": (
        "Thought: ```x```\nFinal Answer: a",
        TextReply("```x```", answer="a"),
    ),
    "thinking": ("<think>t</think>\nFinal Answer: a", FINAL),
    "labels while thinking": (
        "<think>Action: x\nAction Input: y\nFinal Answer: z</think>Final Answer: a",
        TextReply("Action: x\nAction Input: y\nFinal Answer: z", answer="a"),
    ),
    "thinking without a begin": ("t</think>Final Answer: a", FINAL),
    "a mark of thinking in an answer": (
        "Final Answer: the tag <think> is",
        TextReply(answer="the tag <think> is"),
    ),
    "comparison in a thought": ("Thought: 1 < 2\nFinal Answer: a", TextReply("1 < 2", answer="a")),
    "nothing": ("", TextReply()),
    "spaces": (" \n\t\n ", TextReply()),
    "garbage": ("garbage", TextReply("garbage")),
    "only a thought": ("Thought: hmm let me think", TextReply("hmm let me think")),
    "an empty answer": ("Final Answer:", TextReply()),
    "an input without an action": ("Action Input: q", TextReply()),
    "an observation at once": ("Observation: 3\nFinal Answer: a", TextReply()),
    "unfinished thinking": ("<think>Final Answer: a", TextReply("Final Answer: a")),
    "a NUL": ("Final Answer: a\x00b", TextReply(answer="a\ufffdb")),
}


@pytest.mark.parametrize(("text", "expected"), REPLIES.values(), ids=REPLIES)
def test_a_reply_is_read_as_it_is_meant(text: str, expected: TextReply) -> None:
    reply, _, _ = read(text)

    assert reply == expected


IN_LINE = {
    "an answer": ("Thought: t Final Answer: a", FINAL),
    "an answer over lines": ("Thought: t Final Answer: a\nb\n", TextReply("t", answer="a\nb")),
    "a bold answer": ("Thought: t **Final Answer:** a", FINAL),
    "an action": ("Thought: t. Action: search Action Input: q", TextReply("t.", "search", "q")),
    "an action before its input": ("Thought: t Action: search\nAction Input: q", ACTION),
    "an invented observation": (
        "Thought: t Action: search Action Input: q Observation: 3 Final Answer: 3",
        ACTION,
    ),
    "the words alone": (
        "Thought: soon the Final Answer: it will be",
        TextReply("soon the Final Answer: it will be"),
    ),
    "small letters": ("Thought: t final answer: a", TextReply("t final answer: a")),
    "while thinking": (
        "<think>t Final Answer: no</think> u Final Answer: a",
        TextReply("t\nFinal Answer: no u", answer="a"),
    ),
    "only while thinking": (
        "<think>t Final Answer: a</think>",
        TextReply("t Final Answer: a"),
    ),
}


@pytest.mark.parametrize(("text", "expected"), IN_LINE.values(), ids=IN_LINE)
@pytest.mark.parametrize("size", [None, 1, 5])
def test_labels_within_lines_count_where_there_are_no_others(
    text: str, expected: TextReply, size: int | None
) -> None:
    reply, _, answer = read(text, size)

    assert (reply, answer) == (expected, expected.answer)


def test_what_was_thought_aloud_stays_where_labels_stand_within_lines() -> None:
    reader = ReplyReader()
    reader.think_aloud("Let me see.")

    reader.feed("Thought: t Final Answer: a")
    reader.finish()

    assert reader.reply == TextReply("Let me see.\n\nt", answer="a")


@pytest.mark.parametrize("text", [text for text, _ in REPLIES.values()], ids=REPLIES)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_chunks_change_nothing(text: str, size: int) -> None:
    assert read(text, size) == read(text)


@pytest.mark.parametrize(("text", "expected"), REPLIES.values(), ids=REPLIES)
def test_what_is_shown_is_what_is_kept(text: str, expected: TextReply) -> None:
    _, thought, answer = read(text, 1)

    assert (thought, answer) == (expected.thought, expected.answer)


PIECES = st.sampled_from(
    [
        *("Thought:", "Action:", "Action Input:", "Final Answer:", "Observation:", "**Action:**"),
        *("\n", "\r\n", "\r", " ", "\t", "```", "~~~", "<think>", "</think>", "<", "**", "#", "`"),
        *("a", "none", "search", "act", "fin", "\x00", "\ud800", "é", "\u2028", ":"),
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)


@given(text=HOSTILE, cuts=st.lists(st.integers(min_value=1, max_value=9), min_size=1))
def test_no_text_and_no_chunks_confuse_the_reader(text: str, cuts: list[int]) -> None:
    reader = ReplyReader()
    shown: list[str] = []
    at = 0
    for number in range(len(text)):
        size = cuts[number % len(cuts)]
        shown += [d.text for d in reader.feed(text[at : at + size]) if isinstance(d, AnswerDelta)]
        at += size
    shown += [d.text for d in reader.finish() if isinstance(d, AnswerDelta)]

    assert reader.reply == read(text)[0]
    assert "".join(shown) == reader.reply.answer


@given(thought=HOSTILE)
def test_a_label_is_never_shown_as_thought(thought: str) -> None:
    _, shown, _ = read(f"Thought: {thought}\nAction: secret_tool\nAction Input: secret", 1)

    if "```" not in thought and "~~~" not in thought and "<think>" not in thought:
        assert "secret" not in shown


@pytest.mark.parametrize(
    "unit",
    [" ", "*", "<", "<think>", "```\n", "**Thought:**", "\n", "Action: y\n", "[(", "`", "# "],
)
def test_a_hostile_megabyte_is_read_to_its_end(unit: str) -> None:
    hostile = unit * (1_000_000 // len(unit))

    reply, _, _ = read(f"{hostile}\n</think>\n```\nFinal Answer: a", 4096)

    assert reply.answer in ("", "a")


def test_the_reader_is_done_once_nothing_more_can_matter() -> None:
    reader = ReplyReader()

    list(reader.feed("Thought: t\nAction: search\nAction Input: q\nObservation:"))

    assert reader.done


def test_the_reader_is_not_done_while_an_answer_may_go_on() -> None:
    reader = ReplyReader()

    list(reader.feed("Thought: t\nFinal Answer: a\n\nand more"))

    assert not reader.done


def test_what_a_model_thinks_aloud_is_shown_as_thought_and_kept_apart() -> None:
    reader = ReplyReader()
    shown = [
        delta.text
        for deltas in (reader.think_aloud("Let me "), reader.think_aloud("see. "), reader.feed("t"))
        for delta in deltas
    ]
    shown += [delta.text for delta in reader.feed("\nFinal Answer: a")]
    list(reader.finish())

    assert reader.reply.thought == "Let me see.\n\nt"
    assert "".join(shown).startswith("Let me see.\n\nt")
