"""Whose turn it is: workers take the runs of many people in a fair order, whoever asks the most."""

import uuid
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Conversation, Run, RunStatus, User
from chat.runs import lease
from chat.runs.queue import ahead_of, anybody_waits
from chat.runs.worker.claim import claim, claim_next
from tests.integration.here import here
from tests.integration.runs.queue.claims import all_claimed, claimed, end

Ask = Callable[..., list[Run]]


def test_a_persons_first_run_comes_before_anothers_second(
    ask_as: Ask, ada: User, bob: User
) -> None:
    hers = ask_as(ada, 20)
    (his,) = ask_as(bob)
    assert [claimed().pk for _ in range(3)] == [hers[0].pk, his.pk, hers[1].pk]


def test_even_a_single_worker_does_not_do_all_of_one_person_first(
    ask_as: Ask, ada: User, bob: User
) -> None:
    hers = ask_as(ada, 3)
    first = claimed()
    his = ask_as(bob, 2)
    end(first)
    second = claimed()
    end(second)
    assert [first.pk, second.pk, claimed().pk] == [hers[0].pk, his[0].pk, hers[1].pk]


def test_a_person_has_no_more_running_than_allowed_until_one_ends(
    ask_as: Ask, ada: User, settings: Any
) -> None:
    settings.RUNS_PER_USER = 2
    runs = ask_as(ada, 3)
    first = claimed()
    claimed()
    assert (claim_next("a worker"), anybody_waits()) == (None, False)
    end(first)
    assert claimed().pk == runs[2].pk


def test_without_a_limit_one_person_may_have_all_workers(
    ask_as: Ask, ada: User, settings: Any
) -> None:
    settings.RUNS_PER_USER = 0
    runs = ask_as(ada, 9)
    assert all_claimed() == [run.pk for run in runs]


def test_an_interrupted_run_comes_before_those_that_never_began(ask_as: Ask, ada: User) -> None:
    ask_as(ada, 1)
    second = claim(ask_as(ada, 1)[0].pk, "a worker")
    assert second is not None
    lease.release(second)
    assert claimed().pk == second.pk


def test_an_interrupted_run_keeps_its_place_among_many_people(
    ask_as: Ask, ada: User, bob: User
) -> None:
    ask_as(ada)
    run = claimed()
    ask_as(bob)
    lease.release(run)
    assert claimed().pk == run.pk


def test_a_run_that_waits_for_its_person_takes_no_place(
    ask_as: Ask, ada: User, settings: Any
) -> None:
    settings.RUNS_PER_USER = 1
    runs = ask_as(ada, 2)
    lease.park(claimed())
    assert claimed().pk == runs[1].pk
    assert not anybody_waits()


def test_those_who_wait_are_told_how_many_are_ahead(
    ask_as: Ask, ada: User, bob: User, settings: Any
) -> None:
    settings.RUNS_PER_USER = 0
    hers = ask_as(ada, 3)
    his = ask_as(bob, 2)
    claimed()
    waiting = [run.pk for run in (*hers[1:], *his)]
    ahead = ahead_of([*waiting, hers[0].pk])
    assert ahead == {his[0].pk: 0, hers[1].pk: 1, his[1].pk: 2, hers[2].pk: 3}
    assert sorted(ahead, key=ahead.__getitem__) == all_claimed()


def test_ones_own_runs_that_must_end_first_are_ahead_too(
    ask_as: Ask, ada: User, settings: Any
) -> None:
    settings.RUNS_PER_USER = 2
    runs = ask_as(ada, 4)
    claimed()
    assert ahead_of([run.pk for run in runs]) == {runs[1].pk: 0, runs[2].pk: 2, runs[3].pk: 3}


def test_the_reaper_reads_no_run_that_has_ended(
    ask_as: Ask, conversation: Conversation, scripted: Any
) -> None:
    version, now = scripted([]), timezone.now()
    Run.objects.bulk_create(
        Run(
            conversation=conversation,
            policy_version=version,
            client_message_id=uuid.uuid4(),
            status=RunStatus.SUCCEEDED,
            ended_at=now,
        )
        for _ in range(2000)
    )
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as seen:
        cursor.execute("ANALYZE")
        here().reaper.look()
        asked = [query["sql"] for query in seen if "chat_run" in query["sql"]]
        plans = []
        for sql in asked:
            cursor.execute(f"EXPLAIN {sql}")
            plans.append("\n".join(row[0] for row in cursor.fetchall()))
    assert len(plans) >= 4
    assert [plan for plan in plans if "Seq Scan on chat_run" in plan] == []
