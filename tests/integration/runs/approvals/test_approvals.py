"""A risky action waits for its owner's yes, is answered once, and runs exactly as it was shown."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from chat.models import Action, ApprovalStatus, Run, RunStatus, TurnStatus, User
from chat.runs.approvals import decide
from chat.runs.stop import stop
from chat.runs.worker.attempt import MAX_ATTEMPTS
from chat.search.find import find
from chat.search.language.query import parse
from chat.stream.streams import run_key
from tests.integration.here import here
from tests.integration.runs.approvals.bank import DONE, SUM, Bank
from tests.integration.runs.approvals.told import first_action, last, last_of, told
from tests.integration.runs.rows import seen


def test_a_risky_action_waits_and_nobody_holds_its_run(payment: Run, bank: Bank) -> None:
    (asked_for,) = payment.approvals.all()
    (turn,) = payment.turns.all()
    (action,) = turn.actions

    assert (payment.status, payment.lease_until, payment.ended_at) == (
        RunStatus.WAITING,
        None,
        None,
    )
    assert (asked_for.status, asked_for.tool) == (ApprovalStatus.PENDING, "bank__pay")
    assert asked_for.position == action.position == 0
    assert asked_for.inputs == action.inputs == {"to": "Eve", "amount": 7}
    assert (turn.status, action.started_at) == (TurnStatus.OPEN, None)
    assert timezone.now() < asked_for.expires_at <= timezone.now() + timedelta(hours=1)
    assert bank.paid == []


def test_who_watches_is_told_and_the_rows_name_that_frame(parked: Run, valkey: Any) -> None:
    event = told(parked, valkey)[-1]
    newest = valkey.xrevrange(run_key(parked.pk), count=1)[0][0].decode()

    assert (event["type"], event["index"]) == ("approval.requested", 0)
    assert f'data-approval="{parked.approvals.get().pk}"' in event["html"]
    assert parked.stream_id == last(parked).stream_id == newest


def test_what_waits_for_its_owner_is_found_by_them_and_by_nobody_else(
    payment: Run, ada: User, bob: User
) -> None:
    def finds(user: User, text: str) -> bool:
        return bool(find(user, parse(text)).turn_ids)

    assert finds(ada, "status:waiting")
    assert finds(ada, "eve due tool:bank__pay -status:running")
    assert not finds(bob, "status:waiting")

    decide(payment.approvals.get(), by=ada, grant=True)
    here().work(payment.pk)

    assert finds(ada, '"paid 7 to eve" status:answered')
    assert not finds(ada, "status:waiting")


def test_what_waited_and_was_stopped_is_found_by_how_it_ended(payment: Run, ada: User) -> None:
    stop(payment, "Nobody knows this Eve.")

    (turn,) = payment.turns.all()
    assert find(ada, parse('status:stopped eve interrupted "nobody knows"')).turn_ids == [turn.pk]


def test_an_allowed_action_runs_once_and_the_run_goes_on(
    payment: Run, ada: User, bank: Bank
) -> None:
    decide(payment.approvals.get(), by=ada, grant=True)
    assert seen(payment, status=RunStatus.INTERRUPTED)()
    here().work(payment.pk)

    payment.refresh_from_db()
    row = payment.approvals.get()
    assert (payment.status, payment.answer, bank.paid) == (RunStatus.SUCCEEDED, "Done.", ["Eve 7"])
    assert first_action(payment).observation == "paid 7 to Eve"
    assert (row.status, row.decided_by, row.decided_at is not None) == ("granted", ada, True)
    assert payment.model_calls.count() == 2


def test_the_answer_is_told_before_the_next_worker_begins(
    parked: Run, ada: User, valkey: Any, wait_for: Callable[..., None]
) -> None:
    decide(parked.approvals.get(), by=ada, grant=True)
    wait_for(lambda: told(parked, valkey)[-1]["type"] == "run.interrupted", "the answer")
    decided, interrupted = told(parked, valkey)[-2:]
    here().work(parked.pk)

    ids = [entry.decode() for entry, _ in valkey.xrange(run_key(parked.pk))]
    assert (decided["type"], interrupted["type"]) == ("approval.decided", "run.interrupted")
    assert "Allowed by ada" in decided["html"]
    assert "2-0" in ids
    assert "Allowed by ada" in last_of(told(parked, valkey), "run.ended")["html"]


@pytest.mark.parametrize("has_looked", [False, True], ids=["at once", "after a heartbeat"])
def test_a_question_whose_commit_was_not_answered_is_asked_once_and_told(
    asked: Callable[..., Run], valkey: Any, has_looked: bool
) -> None:
    run = asked([{"say": SUM}, {"say": DONE}], tools=("calculator",), approve=("calculator",))
    lost: list[str] = []

    def lose_the_answer(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "chat_approval"') and not lost:
            lost.append(sql)
            transaction.on_commit(break_off)
        return execute(sql, *rest)

    def break_off() -> None:
        if has_looked:  # the run is not held any more, so this worker is told to let go of it
            here().watch._look()
        raise OperationalError("The connection is gone, and nobody knows what became of it.")

    with connection.execute_wrapper(lose_the_answer):
        here().work(run.pk)

    run.refresh_from_db()
    assert lost
    assert (run.status, run.approvals.count()) == (RunStatus.WAITING, 1)
    assert [event["type"] for event in told(run, valkey)].count("approval.requested") == 1


def test_a_refused_action_does_not_run_and_the_model_is_told_why(
    payment: Run, ada: User, bank: Bank
) -> None:
    decide(payment.approvals.get(), by=ada, grant=False, feedback=" Ask Bob\0 first. ")
    here().work(payment.pk)

    payment.refresh_from_db()
    action = first_action(payment)
    assert (payment.status, bank.paid) == (RunStatus.SUCCEEDED, [])
    assert action.observation == "The call of bank__pay was not approved. Ask Bob first."
    assert action.error == "NotApproved"


def test_what_is_run_is_what_was_asked_about_to_the_letter(
    payment: Run, ada: User, bank: Bank
) -> None:
    decide(payment.approvals.get(), by=ada, grant=True)
    Action.objects.filter(turn__run=payment).update(inputs={"to": "Mallory", "amount": 7})
    here().work(payment.pk)

    payment.refresh_from_db()
    assert (payment.status, bank.paid) == (RunStatus.SUCCEEDED, [])
    assert "not what was asked about" in (first_action(payment).observation or "")


def test_any_tool_can_be_made_to_ask(parked: Run, ada: User) -> None:
    decide(parked.approvals.get(), by=ada, grant=True)
    here().work(parked.pk)

    parked.refresh_from_db()
    assert (parked.status, first_action(parked).observation) == (RunStatus.SUCCEEDED, "42")
    assert parked.approvals.get().safety == "safe"


def test_a_slip_in_the_name_of_a_tool_to_ask_about_fails_the_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": SUM}], tools=("calculator",), approve=("calculater",))
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "configuration")
    assert "'calculater', which is no tool of this policy" in run.message


def test_each_action_is_asked_about_and_answers_are_not_attempts_gone_wrong(
    asked: Callable[..., Run], ada: User
) -> None:
    many = MAX_ATTEMPTS + 2
    script = [
        {"say": f'Action: calculator\nAction Input: {{"expression": "1 + {number}"}}'}
        for number in range(many)
    ]
    run = asked(
        [*script, {"say": DONE}],
        tools=("calculator",),
        approve=("calculator",),
        limits={"max_turns": many + 1},
    )
    here().work(run.pk)
    for _ in range(many):
        decide(run.approvals.get(status=ApprovalStatus.PENDING), by=ada, grant=True)
        here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.turns.count()) == (RunStatus.SUCCEEDED, many + 1)
