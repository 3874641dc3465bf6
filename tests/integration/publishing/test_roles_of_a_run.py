"""A run asks the model of each role, and goes on with each where another worker takes it up."""

from collections.abc import Callable
from typing import Any

from chat.models import ModelCall, Run
from chat.runs.resume import Before
from tests.integration.here import here

ACTION = 'Thought: I compute.\nAction: calculator\nAction Input: {"expression": "2 + 2"}'
SUMMARY: dict[str, Any] = {
    "summarize": {"provider": "scripted", "script": [{"say": "Four, as far as I came."}]}
}


def test_a_partial_answer_is_written_by_the_model_for_summaries(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": ACTION}], tools=("calculator",), limits={"max_turns": 1}, models=SUMMARY)
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer) == ("exhausted", "Four, as far as I came.")
    assert [call.purpose for call in ModelCall.objects.with_requests(run)] == ["think", "summarize"]


def test_the_calls_behind_are_counted_by_what_they_were_for(asked: Callable[..., Run]) -> None:
    run = asked([{"say": ACTION}], tools=("calculator",), limits={"max_turns": 1}, models=SUMMARY)
    here().work(run.pk)
    run.refresh_from_db()
    run.attempt = 2

    before = Before.read(run)

    assert before.position() == before.position(lambda purpose: purpose == "think") == 1
    assert before.position(lambda purpose: purpose == "summarize") == 0


def test_who_answers_a_run_is_not_who_answers_a_role(asked: Callable[..., Run]) -> None:
    by_demo = {"summarize": {"provider": "demo"}}
    run = asked([{"say": ACTION}], tools=("calculator",), limits={"max_turns": 1}, models=by_demo)
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.provider, run.instead_of) == ("scripted", "")
    assert [call.provider for call in ModelCall.objects.filter(run=run)] == ["scripted", "demo"]
