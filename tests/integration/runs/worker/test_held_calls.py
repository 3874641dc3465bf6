"""A call to think is stored with the turn that it made; nothing a model was told is lost."""

import time
from collections.abc import Callable

import pytest

from agents import contracts
from agents.contracts import EndReason, Outcome, Status, Thought, ThoughtKind
from agents.control import Control
from agents.events import (
    ActionsProposed,
    ModelCalled,
    RunEnded,
    ThoughtCompleted,
    ThoughtDelta,
    TurnStarted,
)
from chat.models import Run
from chat.runs.lease import LeaseLost
from chat.runs.record.recorder import Recorder
from tests.integration.here import here

CALL = contracts.ToolCall(tool="calculator", inputs={"expression": "2 + 2"})
THOUGHT = Thought(kind=ThoughtKind.ACTION, text="I add.", calls=(CALL,))


def called(purpose: str = "think", error: str = "") -> ModelCalled:
    """Tell of a call to a model."""
    return ModelCalled(
        call=contracts.ModelCall(
            purpose=purpose,
            provider="scripted",
            model="scripted",
            request="{}",
            reply="I add.",
            started_at=time.time(),
            seconds=0.1,
            error=error,
        )
    )


@pytest.fixture
def run(claimed: Callable[[], Run]) -> Run:
    return claimed()


@pytest.fixture
def recorder(run: Run) -> Recorder:
    control = Control()
    recorder = Recorder(run, here().publisher.open(run.pk, run.attempt, control), control, [], 0)
    recorder.record(TurnStarted(index=0))
    return recorder


def test_a_call_is_stored_with_the_turn_that_it_made(run: Run, recorder: Recorder) -> None:
    recorder.record(called())
    recorder.record(ThoughtCompleted(node=THOUGHT))
    before = run.model_calls.count()

    recorder.record(ActionsProposed(calls=(CALL,)))

    assert (before, run.model_calls.count(), run.turns.count()) == (0, 1, 1)


def test_a_call_that_no_turn_follows_is_stored_before_the_next_event(
    run: Run, recorder: Recorder
) -> None:
    recorder.record(called())

    recorder.record(ThoughtDelta(text="Once more."))

    assert run.model_calls.count() == 1


def test_a_call_is_stored_when_the_run_is_let_go_of(run: Run, recorder: Recorder) -> None:
    recorder.record(called())

    recorder.flush()

    assert run.model_calls.count() == 1


def test_a_call_that_only_the_end_of_the_run_follows_is_stored_with_it(
    run: Run, recorder: Recorder
) -> None:
    recorder.record(called())

    recorder.record(RunEnded(outcome=Outcome(status=Status.STOPPED, reason=EndReason.STOPPED)))

    run.refresh_from_db()
    assert (run.status, run.model_calls.count(), run.turns.count()) == ("stopped", 1, 0)


@pytest.mark.parametrize("event", [called("choose_tool"), called(error="Interrupted")])
def test_a_call_that_may_be_the_last_for_long_is_stored_at_once(
    run: Run, recorder: Recorder, event: ModelCalled
) -> None:
    recorder.record(event)

    assert run.model_calls.count() == 1


def test_a_call_is_not_stored_in_a_run_that_went_on_elsewhere(run: Run, recorder: Recorder) -> None:
    recorder.record(called())
    Run.objects.filter(pk=run.pk).update(attempt=run.attempt + 1)

    with pytest.raises(LeaseLost):
        recorder.flush()

    assert run.model_calls.count() == 0


def test_calls_keep_their_order_however_they_are_stored(run: Run, recorder: Recorder) -> None:
    for purpose in ("think", "think", "choose_tool", "think"):
        recorder.record(called(purpose))
    recorder.flush()

    stored = list(run.model_calls.order_by("index").values_list("index", "purpose"))

    assert stored == [(0, "think"), (1, "think"), (2, "choose_tool"), (3, "think")]
