"""A turn of several actions: stored before they run, asked about one by one, resumed between."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.contracts import EndReason, Observation, Outcome, Status, ToolCall
from agents.control import Control
from agents.errors import ErrorKind
from agents.events import ActionsProposed, ActionStarted, ObservationDelta, Observed, TurnStarted
from chat.models import Action, Conversation, PolicyVersion, Run, RunStatus, Turn, TurnStatus, User
from chat.operations.verify import Verdict, verify
from chat.runs.approvals import decide
from chat.runs.ask import ask
from chat.runs.record.recorder import Recorder
from chat.runs.worker.claim import claim
from chat.stream.render import render_turn
from tests.integration.here import here
from tests.worker_stage.worker import Stage

ANSWER = "I know now.\n<__final_answer__>Done.</__final_answer__>"
FIELDS: dict[str, Any] = {"policy": "self_repair", "tools": ("calculator",)}


def call(tool: str, **inputs: Any) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': inputs})}</tool_call>"


def calculate(expression: str) -> str:
    return call("calculator", expression=expression)


def told(turn: Turn) -> list[tuple[str, str | None, str]]:
    return [(action.tool, action.observation, action.error) for action in turn.actions]


THREE = {"say": "\n".join(["I do all.", *map(calculate, ("1 + 1", "2 + 2", "3 + 3"))])}


def test_the_calls_of_one_reply_are_the_actions_of_one_turn(asked: Callable[..., Run]) -> None:
    run = asked([THREE, {"say": ANSWER}], **FIELDS)
    here().work(run.pk)

    run.refresh_from_db()
    first, last = run.turns.all()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "Done.")
    assert told(first) == [("calculator", each, "") for each in ("2", "4", "6")]
    assert told(last) == []
    for action in first.actions:
        assert action.seconds is not None
    assert verify(run).verdict is Verdict.AGREES


def test_three_actions_of_one_turn_take_fewer_writes_than_of_three(
    asked: Callable[..., Run],
) -> None:
    single = [{"say": f"So.\n{calculate(each)}"} for each in ("1 + 1", "2 + 2", "3 + 3")]

    assert writes(asked([THREE, {"say": ANSWER}], **FIELDS)) == 5
    assert writes(asked([*single, {"say": ANSWER}], **FIELDS)) == 7


def writes(run: Run) -> int:
    """Return how many statements store turns while the run is worked on."""
    with CaptureQueriesContext(connection) as queries:
        here().work(run.pk)
    return sum('INSERT INTO "chat_turn"' in query["sql"] for query in queries)


def test_what_fails_among_several_lets_the_next_one_run(asked: Callable[..., Run]) -> None:
    several = "\n".join(["All.", calculate("2 +"), call("calculater"), calculate("2 + 2")])
    run = asked([{"say": several}, {"say": ANSWER}], **FIELDS)
    here().work(run.pk)

    errors = [action.error for action in run.turns.get(index=0).actions]
    assert errors == ["ToolFailed", "ToolNotFound", ""]
    run.refresh_from_db()
    assert verify(run).verdict is Verdict.AGREES


def test_what_stands_behind_a_question_back_does_not_run(asked: Callable[..., Run]) -> None:
    several = "\n".join(["I ask.", call("ask_user", question="Which?"), calculate("2 + 2")])
    run = asked([{"say": several}], policy="self_repair", tools=("calculator", "ask_user"))
    here().work(run.pk)

    run.refresh_from_db()
    turn = run.turns.get()
    question, behind = turn.actions
    assert (run.status, run.reason, question.ends) == (RunStatus.SUCCEEDED, "asked", "asked")
    assert (turn.status, behind.observation) == (TurnStatus.COMPLETE, None)
    assert "Not run." in render_turn(turn, run)
    assert verify(run).verdict is Verdict.AGREES


def test_each_action_is_asked_about_by_itself(asked: Callable[..., Run], ada: User) -> None:
    run = asked([THREE, {"say": ANSWER}], **FIELDS, approve=("calculator",))
    verdicts = (True, False, True)
    for position, verdict in enumerate(verdicts):
        here().work(run.pk)
        run.refresh_from_db()
        pending = run.approvals.get(status="pending")
        assert (run.status, pending.turn_index, pending.position) == ("waiting", 0, position)
        assert pending.inputs == {"expression": f"{position + 1} + {position + 1}"}
        decide(pending, by=ada, grant=verdict)
    here().work(run.pk)

    run.refresh_from_db()
    first = run.turns.get(index=0)
    assert [action.error for action in first.actions] == ["", "NotApproved", ""]
    assert [action.observation for action in first.actions][::2] == ["2", "6"]
    assert (run.status, run.approvals.count()) == (RunStatus.SUCCEEDED, 3)


@pytest.mark.parametrize("kept", range(3))
def test_another_worker_goes_on_with_the_action_that_has_not_been_observed(
    asked: Callable[..., Run], kept: int
) -> None:
    run = asked([THREE, {"say": ANSWER}], **FIELDS)
    here().work(run.pk)
    whole = [told(turn) for turn in run.turns.all()]
    interrupt(run, kept)
    here().work(run.pk)

    run.refresh_from_db()
    assert [told(turn) for turn in run.turns.all()] == whole
    assert (run.status, run.attempt) == (RunStatus.SUCCEEDED, 2)
    assert verify(run).verdict is Verdict.AGREES


def test_what_was_under_way_behind_an_interrupted_action_is_told_to_be_interrupted_too(
    asked: Callable[..., Run],
) -> None:
    run = claim(asked([THREE], **FIELDS).pk, "a worker")
    assert run is not None
    control = Control()
    recorder = Recorder(run, here().publisher.open(run.pk, 1, control), control, [], 0)
    calls = [ToolCall(tool="calculator", inputs={"expression": each}) for each in "123"]
    recorder.record(TurnStarted(index=0))
    recorder.record(ActionsProposed(calls=tuple(calls)))
    recorder.record(Observed(observation=Observation(text="lost", error=ErrorKind.INTERRUPTED)))
    recorder.record(ActionStarted())
    recorder.record(ObservationDelta(text="half"))

    recorder.end(Outcome(status=Status.STOPPED, reason=EndReason.STOPPED))

    assert told(run.turns.get()) == [
        ("calculator", "lost", "Interrupted"),
        ("calculator", "half", "Interrupted"),
        ("calculator", None, ""),
    ]


def interrupt(run: Run, kept: int) -> None:
    """Put the run back to where `kept` actions of its first turn had been observed."""
    run.turns.filter(index__gt=0).delete()
    run.model_calls.filter(turn_index__gt=0).delete()
    run.turns.update(status=TurnStatus.OPEN, ended_at=None)
    Action.objects.filter(turn__run=run, position__gte=kept).update(
        observation=None, error="", started_at=None, ended_at=None
    )
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.INTERRUPTED, ended_at=None, reason="", answer="", answer_html=""
    )


def test_a_worker_that_dies_in_the_second_action_runs_neither_it_nor_the_first_again(
    worker: Stage,
    conversation: Conversation,
    scripted: Callable[..., PolicyVersion],
    wait_for: Callable[..., None],
) -> None:
    calls = [call("slow__wait", seconds=seconds) for seconds in (0, 60, 0)]
    script = [{"say": "\n".join(["I wait.", *calls])}, {"say": ANSWER}]
    version = scripted(script, policy="self_repair", tools=("slow__*",))
    before = worker.tool_calls()
    run = ask(conversation, "Go", policy_version=version, client_message_id=uuid.uuid4())
    wait_for(lambda: worker.tool_calls() - before == 2, "the second call", seconds=40)
    worker.kill_worker()
    worker.start_worker()
    is_answered = Run.objects.filter(pk=run.pk, status=RunStatus.SUCCEEDED).exists
    wait_for(is_answered, "the answer", seconds=40)

    first = run.turns.get(index=0)
    assert [action.error for action in first.actions] == ["", "Interrupted", ""]
    assert worker.tool_calls() - before == 3
