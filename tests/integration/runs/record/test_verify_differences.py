"""What was changed in a stored run is named: the first difference, by its turn."""

from typing import Any

import pytest

from chat.models import Action, ModelCall, Run, Turn
from chat.operations.verify import Verdict
from tests.integration.runs.record.verdicts import verdict

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
MULTIPLICATION = CALCULATION.replace("6 * 7", "6 * 8")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"thought": "something else"}, "thought.text in turn 1: stored 'something else'"),
        ({"kind": "thought"}, "thought.kind in turn 1"),
        ({"index": 7}, "its turns are not numbered without a gap"),
        ({"status": "open", "ended_at": None}, "a turn before the last was never completed"),
        ({"attempt": 9}, "a turn is of an attempt that never was"),
    ],
)
def test_a_turn_that_was_changed_is_named(
    answered: Run, change: dict[str, Any], found: str
) -> None:
    Turn.objects.filter(run=answered, index=0).update(**change)

    told, words = verdict(answered)

    assert (told, words[: len(found)]) == (Verdict.DIFFERS, found)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"inputs": {"expression": "1"}}, 'action in turn 1: stored {"tool":"calculator"'),
        ({"tool": "clock"}, 'action in turn 1: stored {"tool":"clock"'),
        (
            {"observation": None, "ended_at": None},
            "what comes next in turn 1: stored nothing, replayed an observation",
        ),
    ],
)
def test_an_action_that_was_changed_is_named(
    answered: Run, change: dict[str, Any], found: str
) -> None:
    Action.objects.filter(turn__run=answered).update(**change)

    told, words = verdict(answered)

    assert (told, words[: len(found)]) == (Verdict.DIFFERS, found)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"answer": "It is 43."}, "answer at the end: stored 'It is 43.'"),
        ({"reason": "asked"}, "reason at the end"),
        ({"status": "exhausted", "reason": "turns"}, "status at the end"),
        ({"partial": True}, "partial at the end: stored True, replayed False"),
        ({"message": "Done."}, "message at the end: stored 'Done.', replayed ''"),
        ({"output_tokens": 7}, "its calls made 0 tokens and it says 7"),
    ],
)
def test_an_end_that_was_changed_is_named(
    answered: Run, change: dict[str, Any], found: str
) -> None:
    Run.objects.filter(pk=answered.pk).update(**change)

    told, words = verdict(answered)

    assert (told, words[: len(found)]) == (Verdict.DIFFERS, found)


def test_a_missing_turn_is_named(answered: Run) -> None:
    answered.turns.filter(index=1).delete()

    assert verdict(answered) == (
        Verdict.DIFFERS,
        "what comes next at the end: stored nothing, replayed turn 2",
    )


def test_a_missing_call_is_named(answered: Run) -> None:
    answered.model_calls.filter(index=1).delete()

    told, words = verdict(answered)

    assert (told, words) == (
        Verdict.DIFFERS,
        "what comes next in turn 2: stored nothing, replayed a call to think",
    )


def test_a_changed_reply_is_found_by_the_turn_it_led_to(answered: Run) -> None:
    ModelCall.objects.filter(run=answered, index=0).update(reply=MULTIPLICATION)

    told, words = verdict(answered)

    assert told is Verdict.DIFFERS
    assert words.startswith("action in turn 1")


def test_a_changed_request_does_not_add_up(answered: Run) -> None:
    answered.pieces.filter(text__contains="Observation").update(text="something else")

    told, words = verdict(answered)

    assert told is Verdict.DIFFERS
    assert "its request cannot be rebuilt" in words
