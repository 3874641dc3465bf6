"""A reply that only repeats itself is cut, and what people repeat for a reason is not."""

import sys
from types import FrameType
from typing import Any

import pytest

from agents.contracts import EndReason, Message, ModelCall, Outcome, Purpose, Role
from agents.control import Control
from agents.events import AnswerDelta, Event, ModelCalled, RunEnded, ThoughtDelta
from agents.loop import run
from agents.model.model import Model
from agents.model.repeats import REPEATS, Repeats
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.text import CUT_SHORT, REPEATED
from agents.tools.toolkit import Toolkit
from tests.replies.text import Parrot

LINE = "Observation: the tool found nothing.\n"
PARAGRAPH = " ".join(f"Sentence {number} of a long paragraph." for number in range(40)) + "\n\n"
"""Some 1,400 characters."""


def fed(text: str, size: int = 7) -> int | None:
    """Return after how many characters the text is found to repeat itself, None for never."""
    repeats = Repeats()
    for start in range(0, len(text), size):
        if repeats.has_begun(text[start : start + size]):
            return start + size
    return None


@pytest.mark.parametrize(
    "unit",
    [
        LINE,
        "I will try again. ",
        "Thought: I need to search.\nAction: search\nAction Input: {}\nObservation: none\n",
        "x" * 100 + " yes and no " + "y" * 88,
        "я не знаю ответа. ",
        "\n",
        " \t",
        PARAGRAPH,
        "null, ",
    ],
)
@pytest.mark.parametrize(
    "before", ["", "Let me see what there is to be found.\n" + "".join(map(str, range(900)))]
)
def test_a_text_that_goes_round_is_noticed(unit: str, before: str) -> None:
    noticed = fed(before + unit * (20_000 // len(unit)))

    assert noticed is not None
    assert noticed <= len(before) + 13_000


def test_a_line_is_noticed_after_some_four_thousand_characters() -> None:
    noticed = fed(LINE * 1_000)

    assert noticed is not None
    assert noticed <= 4_600


ROWS = [f"| {number} | none | none |" for number in range(2_000)]


@pytest.mark.parametrize(
    "text",
    [
        "0, " * 20_000,
        "0.0 0.0 1.0\n" * 5_000,
        "-" * 30_000,
        "| --- | --- |\n" * 3_000,
        "0x00, 0xff, " * 5_000,
        "null, " * 1_000,
        "    pass\n" * 500,
        "\n".join(ROWS),
        "\n".join(f'    assert add({n}, 1) == {n + 1}, "the sum is wrong"' for n in range(2_000)),
        "I must not talk in class.\n" * 100,
        "\n".join(f"{n}. I must not talk in class." for n in range(5_000)),
        "".join(f"{n:05}" + PARAGRAPH for n in range(50)),
    ],
)
@pytest.mark.parametrize("size", [7, 1_000_000])
def test_what_is_repeated_for_a_reason_is_no_loop(text: str, size: int) -> None:
    assert fed(text, size) is None


@pytest.mark.parametrize("unit", [LINE, "ab", "a" * 399 + "b", "a" * 3_000 + "b", "0, "])
def test_four_times_the_text_is_four_times_the_work(unit: str) -> None:
    def work(size: int) -> int:
        count = 0

        def see(frame: FrameType, event: str, argument: Any) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        text = (unit * size)[:size]
        before = sys.getprofile()
        sys.setprofile(see)
        try:
            repeats = Repeats()
            for start in range(0, size, 5):
                repeats.has_begun(text[start : start + 5])
        finally:
            sys.setprofile(before)
        return count

    assert work(80_000) <= 5 * work(20_000) + 1_000


def called(script: list[dict[str, Any]], purpose: Purpose = Purpose.THINK) -> ModelCall:
    model = Model(ScriptedProvider(script), Control())
    items = model.stream([Message(role=Role.USER, content="Go on.")], purpose=purpose)
    return next(item.call for item in items if isinstance(item, ModelCalled))


def test_the_record_says_why_a_reply_was_cut_and_holds_what_came() -> None:
    call = called([{"say": LINE * 500}])

    assert call.stop_reason == REPEATS
    assert call.is_cut
    assert call.error == ""
    assert 4_000 <= len(call.reply) <= 4_700
    assert (LINE * 500).startswith(call.reply)


def test_what_comes_behind_enough_is_no_loop_even_in_the_same_piece() -> None:
    model = Model(Parrot(["All. " + LINE * 500]), Control())
    asked = [Message(role=Role.USER, content="Go on.")]

    items = model.stream(asked, purpose=Purpose.THINK, enough=lambda: True)

    call = next(item.call for item in items if isinstance(item, ModelCalled))
    assert (call.stop_reason, call.is_cut) == ("enough", False)


def test_thoughts_that_go_round_are_cut_too() -> None:
    call = called([{"say": "Yes.", "reasoning": LINE * 500}])

    assert call.stop_reason == REPEATS
    assert call.reply == ""
    assert 4_000 <= len(call.reasoning) <= 4_700


def told(policy: str, *replies: str) -> tuple[list[Event], Outcome]:
    limits = Limits(max_turns=3)
    control = Control()
    parts = Parts(
        Model(ScriptedProvider([{"say": reply} for reply in replies]), control), Toolkit(), limits
    )
    events = list(
        run(build(PolicySpec(policy=policy, limits=limits), parts), State("Go on?"), control)
    )
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    return events, ended.outcome


def shown(events: list[Event], kind: type[AnswerDelta] | type[ThoughtDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


def test_an_answer_that_goes_round_is_partial_and_says_so_to_the_person() -> None:
    events, outcome = told("explicit", "Final Answer: Well.\n" + "I do not know. " * 500)

    assert outcome.partial
    assert outcome.answer.endswith(CUT_SHORT + REPEATED)
    assert shown(events, AnswerDelta).endswith(CUT_SHORT + REPEATED)


def test_a_thought_that_goes_round_says_so_and_the_run_goes_on() -> None:
    events, outcome = told("explicit", "Thought: " + "I do not know. " * 500, "Final Answer: Five.")

    assert outcome.reason is EndReason.ANSWERED
    assert outcome.answer == "Five."
    assert shown(events, ThoughtDelta).count(REPEATED) == 1


def test_a_run_whose_model_says_nothing_twice_is_told_nothing() -> None:
    events, outcome = told("explicit", "Final Answer: Five.")

    assert REPEATED not in shown(events, AnswerDelta) + outcome.answer
