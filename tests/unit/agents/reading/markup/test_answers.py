"""Replies that are to be all answer: what is a part of the answer, and what is a step."""

import pytest

from agents.events import AnswerDelta
from agents.reading.markup.answer_reply import AnswerReader

QUOTED = "The code printed:\n\n```text\nObservation: 5\n```"
CALL = '{"tool": "ferry", "inputs": {"port": "Bergen"}}'


def answered(reply: str, *, piece: int) -> tuple[str, bool]:
    """Return what was shown, and whether a call was left out."""
    reader = AnswerReader(lambda text: AnswerDelta(text=text))
    pieces = [reply[at : at + piece] for at in range(0, len(reply), piece)]
    events = [event for part in pieces for event in reader.feed(part)]
    events += reader.finish(is_cut=False)
    shown = "".join(event.text for event in events if isinstance(event, AnswerDelta))
    assert shown == reader.said.text
    return shown, reader.has_call


@pytest.mark.parametrize("piece", [1, 7, 1_000])
@pytest.mark.parametrize(
    "reply",
    [
        QUOTED,
        "It printed:\n\n```\nACTION: x\nACTION_EXECUTED: y\nOBSERVATION: 99\n```",
        "It printed:\n\n~~~\nFinal Answer: 99\n~~~\n\nAnd nothing else.",
    ],
)
def test_a_label_in_a_fence_behind_words_is_a_part_of_the_answer(reply: str, piece: int) -> None:
    assert answered(reply, piece=piece) == (reply, False)


@pytest.mark.parametrize("piece", [1, 7, 1_000])
def test_an_action_with_its_object_is_a_call_in_a_fence_as_well(piece: int) -> None:
    said = f"Let me look it up.\n\n```json\nAction: {CALL}\n```"

    assert answered(said, piece=piece) == ("Let me look it up.", True)


@pytest.mark.parametrize("piece", [1, 7, 1_000])
@pytest.mark.parametrize(
    "reply",
    [
        "Answer: Bergen",
        "**Final Answer**\n\nBergen",
        "### Final Answer:\nBergen",
        "Thought: Final Answer: Bergen",
        "</tool_call>Bergen",
        '{"action": "Final Answer", "action_input": "Bergen"}',
    ],
)
def test_labels_and_marks_before_an_answer_are_not_shown(reply: str, piece: int) -> None:
    assert answered(reply, piece=piece) == ("Bergen", False)
