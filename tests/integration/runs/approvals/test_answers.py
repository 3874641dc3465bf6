"""A question is answered once: by its owner, by silence, or by what came first of many."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from chat.models import Approval, ApprovalStatus, Run, RunStatus, User
from chat.runs.approvals import NotOpen, decide, expire
from chat.runs.stop import stop
from tests.integration.here import here
from tests.integration.runs.approvals.bank import DONE, SUM
from tests.integration.runs.approvals.told import first_action
from tests.integration.runs.rows import seen


def test_the_same_answer_again_changes_nothing_and_another_one_is_too_late(
    parked: Run, ada: User
) -> None:
    row = parked.approvals.get()
    decide(row, by=ada, grant=True)
    decide(row, by=ada, grant=True)
    with pytest.raises(NotOpen, match="allowed already"):
        decide(row, by=ada, grant=False)

    row.refresh_from_db()
    assert row.status == ApprovalStatus.GRANTED


def test_of_many_answers_at_once_one_counts(parked: Run, ada: User) -> None:
    row = parked.approvals.get()
    refused: list[str] = []
    start = threading.Barrier(8)

    def answer(number: int) -> None:
        mine = Approval.objects.get(pk=row.pk)
        start.wait(20)
        try:
            decide(mine, by=ada, grant=number % 2 == 0)
        except NotOpen as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    row.refresh_from_db()
    assert row.status in (ApprovalStatus.GRANTED, ApprovalStatus.DENIED)
    assert len(refused) == 4


def test_silence_is_a_no(parked: Run) -> None:
    expire()
    assert seen(parked, status=RunStatus.WAITING)()
    parked.approvals.update(expires_at=timezone.now() - timedelta(seconds=1))
    expire()
    here().work(parked.pk)

    parked.refresh_from_db()
    assert (parked.status, parked.answer) == (RunStatus.SUCCEEDED, "Done.")
    assert parked.approvals.get().status == ApprovalStatus.EXPIRED
    assert "Nobody answered in time" in (first_action(parked).observation or "")


def test_an_answer_that_comes_too_late_is_no_answer(parked: Run, ada: User) -> None:
    parked.approvals.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotOpen, match="not answered in time"):
        decide(parked.approvals.get(), by=ada, grant=True)

    assert seen(parked, status=RunStatus.WAITING)()


def test_the_time_to_answer_is_a_setting(asked: Callable[..., Run], settings: Any) -> None:
    settings.APPROVAL_SECONDS = 60
    run = asked([{"say": SUM}, {"say": DONE}], tools=("calculator",), approve=("calculator",))
    here().work(run.pk)

    assert run.approvals.get().expires_at <= timezone.now() + timedelta(seconds=60)


def at_once(*deeds: Callable[[], object]) -> None:
    """Do everything at the same moment, each in a thread of its own."""
    start, broken = threading.Barrier(len(deeds)), list[Exception]()

    def do(deed: Callable[[], object]) -> None:
        start.wait(20)
        try:
            deed()
        except NotOpen:
            pass  # somebody was faster
        except Exception as error:
            broken.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=(deed,)) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "Two of them wait for each other."
    assert broken == []


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("is_late", [False, True])
def test_answers_time_stop_and_workers_at_once_leave_one_truth(
    asked: Callable[..., Run], ada: User, is_stopped: bool, is_late: bool
) -> None:
    run = asked([{"say": SUM}, {"say": DONE}], tools=("calculator",), approve=("calculator",))
    here().work(run.pk)
    row = run.approvals.get()
    if is_late:
        run.approvals.update(expires_at=timezone.now() + timedelta(milliseconds=20))
    yes, no = (Approval.objects.get(pk=row.pk) for _ in range(2))

    at_once(
        lambda: decide(yes, by=ada, grant=True),
        lambda: decide(no, by=ada, grant=False),
        lambda: stop(run) if is_stopped else None,
        expire,
        expire,
        lambda: here().work(run.pk),
        lambda: here().work(run.pk),
    )
    run.approvals.filter(status=ApprovalStatus.PENDING).update(expires_at=timezone.now())
    expire()
    here().work(run.pk)

    run.refresh_from_db()
    row.refresh_from_db()
    has_run = run.turns.filter(index=0, stored_actions__observation="42").exists()
    assert run.status in (RunStatus.SUCCEEDED, RunStatus.STOPPED)
    assert run.status == RunStatus.SUCCEEDED or is_stopped
    assert not row.is_pending
    assert row.status == ApprovalStatus.GRANTED or not has_run
