"""A run that waits is stopped, found again and resumed, and asks only while it is held."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from agents.control import Control
from chat.models import ApprovalStatus, Run, RunStatus, TurnStatus, User
from chat.runs import approvals, tools
from chat.runs.approvals import NotOpen, decide, expire
from chat.runs.lease import LeaseLost
from chat.runs.stop import stop
from tests.integration.here import here
from tests.integration.runs.approvals.bank import SUM, Bank
from tests.integration.runs.approvals.told import first_action, last, told
from tests.integration.runs.rows import seen


def test_a_waiting_run_is_stopped_at_once_and_its_question_withdrawn(
    payment: Run, ada: User, bank: Bank, valkey: Any
) -> None:
    assert stop(payment)
    row = payment.approvals.get()
    with pytest.raises(NotOpen, match="stopped"):
        decide(row, by=ada, grant=True)
    here().work(payment.pk)

    payment.refresh_from_db()
    assert (payment.status, last(payment).status) == (RunStatus.STOPPED, TurnStatus.INTERRUPTED)
    assert (row.status, row.decided_by, bank.paid) == (ApprovalStatus.WITHDRAWN, None, [])
    assert "Stopped before it was answered" in told(payment, valkey)[-1]["html"]


def test_a_stop_that_comes_while_it_is_about_to_ask_ends_the_run(asked: Callable[..., Run]) -> None:
    run = asked([{"say": SUM}], tools=("calculator",), approve=("calculator",))
    Run.objects.filter(pk=run.pk).update(stop_requested_at=timezone.now())
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.approvals.count()) == (RunStatus.STOPPED, 0)


def test_a_worker_that_finds_the_question_still_open_parks_the_run_again(
    payment: Run, ada: User, bank: Bank, valkey: Any
) -> None:
    Run.objects.filter(pk=payment.pk).update(status=RunStatus.INTERRUPTED)
    here().work(payment.pk)
    assert seen(payment, status=RunStatus.WAITING, attempt=2)()
    assert told(payment, valkey)[-1]["type"] == "approval.requested"
    decide(payment.approvals.get(), by=ada, grant=True)
    here().work(payment.pk)

    assert seen(payment, status=RunStatus.SUCCEEDED)()
    assert bank.paid == ["Eve 7"]


def test_what_began_under_an_answer_is_not_begun_again(
    payment: Run, ada: User, bank: Bank, working: Any, wait_for: Callable[..., None]
) -> None:
    bank.slow.touch()
    decide(payment.approvals.get(), by=ada, grant=True)
    with working(payment) as workers:
        wait_for(lambda: bank.paid, "the payment")
        Run.objects.filter(pk=payment.pk).update(  # as if its worker had been killed
            status=RunStatus.INTERRUPTED, claimed_at=None, lease_until=None
        )
        workers.wait()
        here().work(payment.pk)

    payment.refresh_from_db()
    assert (payment.status, bank.paid) == (RunStatus.SUCCEEDED, ["Eve 7"])
    assert first_action(payment).error == "Interrupted"


def test_a_run_that_waits_for_nothing_goes_on(parked: Run) -> None:
    parked.approvals.all().delete()
    expire()
    assert seen(parked, status=RunStatus.INTERRUPTED)()


def test_an_approval_of_a_run_that_ended_is_withdrawn(parked: Run) -> None:
    Run.objects.filter(pk=parked.pk).update(
        status=RunStatus.FAILED, reason="internal", ended_at=timezone.now()
    )
    expire()
    assert parked.approvals.get().status == ApprovalStatus.WITHDRAWN


def test_a_worker_that_lost_its_run_cannot_ask_in_it(parked: Run, ada: User) -> None:
    asker_run = Run.objects.get(pk=parked.pk)
    control = Control()
    channel = here().publisher.open(parked.pk, 1, control)
    action = first_action(parked)
    parked.approvals.all().delete()
    Run.objects.filter(pk=parked.pk).update(attempt=2)
    kit = tools.tools_for(asker_run, ["calculator"], here().tools())
    call = action.as_contract().call
    assert call is not None

    with pytest.raises(LeaseLost):
        approvals.Asker(asker_run, channel, control)(kit.get("calculator"), call, "")
    assert not parked.approvals.exists()
