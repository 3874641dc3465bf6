"""A run's budget holds over all its attempts, and its end is honest and stored."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.model.budget import Answerer
from agents.model.tokens import tokens
from chat.models import ModelCall, Run, RunStatus
from chat.runs.spent import Spent, spent
from tests.integration.here import here

pytestmark = pytest.mark.services

NOBODY, SCRIPT = Answerer("", ""), Answerer("scripted", "scripted")
USAGE = {"input_tokens": 60, "output_tokens": 20}
LOOK = {"say": 'look\nAction: calculator\nAction Input: {"expression": "1 + 1"}', "usage": USAGE}


def call(run: Run, **fields: Any) -> None:
    """Store a call of an earlier attempt."""
    run.model_calls.create(
        **{
            "index": 0,
            "turn_index": 0,
            "attempt": 1,
            "purpose": "think",
            "seconds": 1,
            "started_at": run.created_at,
            "digest": b"",
            "rest": "",
            "reply": "",
            **fields,
        }
    )


def test_a_run_that_has_spent_its_budget_ends_with_its_best_answer(
    asked: Callable[..., Run],
) -> None:
    best = {"say": "Two, it seems.", "usage": USAGE}
    run = asked([LOOK, LOOK, best], tools=("calculator",), limits={"tokens": 150})

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason, run.partial) == (RunStatus.EXHAUSTED, "budget", True)
    assert (run.answer, run.turns.count()) == ("Two, it seems.", 2)
    assert run.message == "The run's budget is used up (160 of 150 tokens)."


def test_what_earlier_attempts_have_spent_counts(asked: Callable[..., Run]) -> None:
    run = asked([LOOK, {"say": "Nothing yet."}], limits={"tokens": 100})
    call(run, input_tokens=70, output_tokens=30, error="Interrupted")
    Run.objects.filter(pk=run.pk).update(attempt=1)

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.reason, run.turns.count()) == ("budget", 0)
    assert "100 of 100 tokens" in run.message


def test_a_stored_call_that_nobody_counted_counts_by_its_length(asked: Callable[..., Run]) -> None:
    run = asked([])
    call(run, rest="x" * 700, shared=70, reply="y" * 35)
    call(run, index=1, input_tokens=5, output_tokens=1, cached_tokens=4)
    call(asked([]), input_tokens=1_000, output_tokens=1_000)  # which is another's

    assert sorted(spent(run)) == [
        Spent(5, 1, 4, NOBODY),
        Spent(220, 10, 0, NOBODY),
    ]


def test_a_stored_call_comes_to_as_much_as_when_it_was_made(asked: Callable[..., Run]) -> None:
    look = {"say": LOOK["say"]}
    answer = {"say": "Final Answer: zwei"}
    run = asked(
        [look, look, answer], question="Was ist ein größerer Schlüssel?", tools=("calculator",)
    )
    here().work(run.pk)

    assert spent(run) == [
        Spent(tokens(call.request), tokens(call.reply + call.reasoning), 0, SCRIPT)
        for call in ModelCall.objects.with_requests(run)
    ]


def test_a_limit_of_money_without_a_price_ends_the_run_in_words(asked: Callable[..., Run]) -> None:
    model = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    run = asked([], model=model, limits={"cost": 1})

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "configuration")
    assert "TURNSTONE_PRICES" in run.message
