"""Whose turn it is: workers take the runs of many people in a fair order, whoever asks the most."""

import random
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import Conversation, Lane, Queue, Run, RunStatus, User
from chat.runs import lease
from chat.runs.ask import ask
from chat.runs.ending import give_up
from chat.runs.lease import LeaseLost
from chat.runs.queue import ahead_of, anybody_waits
from chat.runs.stop import request_stop
from chat.runs.worker.claim import claim, claim_next
from chat.runs.worker.queue_repair import repair_queues
from tests.integration.here import here

Ask = Callable[..., list[Run]]


def claimed() -> Run:
    run = claim_next("a worker")
    assert run is not None
    return run


def all_claimed() -> list[int]:
    """Claim until nothing may be claimed, and return the runs in that order."""
    runs: list[int] = []
    while (run := claim_next("a worker")) is not None:
        runs.append(run.pk)
    return runs


def end(run: Run) -> None:
    give_up(run, "This test is done with it.")


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


def test_many_workers_at_once_take_each_run_once_and_keep_to_the_limit(
    ask_as: Ask, ada: User, bob: User, settings: Any
) -> None:
    settings.RUNS_PER_USER = 3
    ask_as(ada, 12)
    ask_as(bob, 12)
    taken: list[int] = []
    start = threading.Barrier(16)

    def take() -> None:
        start.wait()
        run = claim_next("a worker")
        if run is not None:
            taken.append(run.pk)
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    running = Run.objects.filter(status=RunStatus.RUNNING).values_list("owner__username")
    assert sorted(running.annotate(Count("pk"))) == [("ada", 3), ("bob", 3)]
    assert len(taken) == len(set(taken)) == 6


def test_a_line_that_is_being_changed_is_passed_over_for_the_next_person(
    ask_as: Ask, ada: User, bob: User
) -> None:
    ask_as(ada)
    (his,) = ask_as(bob)
    taken: list[int] = []
    with transaction.atomic():
        Queue.objects.select_for_update().get(space=ada.pk)
        in_a_thread(lambda: taken.append(claimed().pk))
    assert taken == [his.pk]


def test_a_worker_waits_for_the_only_line_that_is_being_changed(ask_as: Ask, ada: User) -> None:
    (hers,) = ask_as(ada)
    taken: list[int] = []
    thread = threading.Thread(target=closing(lambda: taken.append(claimed().pk)))
    with transaction.atomic():
        Queue.objects.select_for_update().get(space=ada.pk)
        thread.start()
        wait_until_blocked()
    thread.join()
    assert taken == [hers.pk]


def test_a_line_that_is_not_let_go_of_keeps_no_worker_waiting_for_long(
    ask_as: Ask, ada: User
) -> None:
    ask_as(ada)
    began: list[bool] = []
    with transaction.atomic():
        Queue.objects.select_for_update().get(space=ada.pk)
        in_a_thread(lambda: began.append(here().work_next()))
    assert began == [False]


def test_a_run_that_is_being_stopped_is_passed_over(ask_as: Ask, ada: User) -> None:
    first, second = ask_as(ada, 2)
    taken: list[int] = []
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=first.pk)
        in_a_thread(lambda: taken.append(claimed().pk))
    assert taken == [second.pk]


def test_a_follow_up_question_and_the_end_of_what_it_follows_go_on_side_by_side(
    ask_as: Ask, ada: User
) -> None:
    (first,) = ask_as(ada)
    stopping = threading.Thread(target=closing(lambda: request_stop(first)))
    with transaction.atomic():
        ask(
            first.conversation,
            "And 3 + 3?",
            policy_version=first.policy_version,
            client_message_id=uuid.uuid4(),
        )
        stopping.start()
        wait_until_blocked()
    stopping.join()
    assert set(Run.objects.values_list("status", flat=True)) == {"queued", "stopped"}


def in_a_thread(act: Callable[[], object]) -> None:
    thread = threading.Thread(target=closing(act))
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


def closing(act: Callable[[], object]) -> Callable[[], None]:
    def do() -> None:
        try:
            act()
        finally:
            connection.close()

    return do


def wait_until_blocked() -> None:
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    with connection.cursor() as cursor:
        for _ in range(2000):
            cursor.execute(query + "AND wait_event_type = 'Lock'")
            if cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.01)")
    raise AssertionError("Nobody waited for the line.")


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


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [*("ask", "try", "claim", "release", "park"), *("answer", "stop", "end", "expire")]
        ),
        st.integers(0, 4),
    ),
    max_size=25,
)


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(steps=STEPS)
def test_the_line_is_what_the_runs_say_whatever_happens(
    steps: list[tuple[str, int]], ask_as: Ask
) -> None:
    people = [User.objects.create_user(uuid.uuid4().hex) for _ in range(3)]
    for step, number in steps:
        take(step, number, people, ask_as)

    for person, lane in product(people, Lane):
        kinds = ["chat"] if lane == Lane.CHAT else ["trial"]
        runs = Run.objects.filter(conversation__owner=person, conversation__kind__in=kinds)
        line = Queue.objects.filter(space=person.pk, lane=lane).first() or Queue()
        interrupted = runs.filter(status=RunStatus.INTERRUPTED).order_by("pk").first()
        first = interrupted or runs.filter(status=RunStatus.QUEUED).order_by("pk").first()
        assert line.next_run == (first and first.pk)
        assert line.running == runs.filter(status=RunStatus.RUNNING).count()
    waiting = Run.objects.filter(status__in=("queued", "interrupted"))
    lanes = dict(waiting.values_list("pk", "lane"))
    ahead = ahead_of(lanes)
    order = all_claimed()
    assert order == sorted(order, key=lambda run: lanes[run] == Lane.BATCH)
    for lane in Lane:
        began = [run for run in order if lanes[run] == lane]
        of_lane = [run for run in sorted(ahead, key=ahead.__getitem__) if lanes[run] == lane]
        assert began == of_lane[: len(began)]
    Conversation.objects.all().delete()


def take(step: str, number: int, people: list[User], ask_as: Ask) -> None:
    match step:
        case "ask" | "try":
            kind = "chat" if step == "ask" else "trial"
            ask_as(people[number % len(people)], kind=kind)
        case "claim":
            claim_next("a worker")
        case "answer":
            some(Q(status=RunStatus.WAITING), number).update(status=RunStatus.INTERRUPTED)
        case "stop":
            for run in some(~Q(status=RunStatus.RUNNING), number):
                request_stop(run)
        case "expire":
            some(Q(status=RunStatus.RUNNING), number).update(
                lease_until=timezone.now() - timedelta(minutes=1)
            )
            lease.release_expired()
        case _:
            act = {"release": lease.release, "park": lease.park, "end": end}[step]
            for run in some(Q(status=RunStatus.RUNNING), number):
                act(run)


def test_many_who_change_the_same_lines_at_once_neither_spoil_nor_block_them(
    ask_as: Ask, ada: User, bob: User
) -> None:
    people = [ada, bob]
    steps = ["ask", "try", "claim", "claim", "release", "park", "answer", "stop"]
    errors: list[Exception] = []

    def act(seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311
        for _ in range(25):
            try:
                take(chance.choice([*steps, "end"]), chance.randrange(6), people, ask_as)
            except LeaseLost:
                pass  # another thread was first
            except Exception as error:
                errors.append(error)
        connection.close()

    threads = [threading.Thread(target=act, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert repair_queues() == []


def some(which: Q, number: int) -> Any:
    ids = list(Run.objects.filter(which).order_by("pk").values_list("pk", flat=True))
    return Run.objects.filter(which, pk__in=ids[number : number + 1])


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


def test_the_runs_of_a_person_who_is_deleted_leave_the_line(ask_as: Ask, ada: User) -> None:
    ask_as(ada, 2)
    claimed()
    ada.delete()
    assert (Queue.objects.count(), anybody_waits()) == (0, False)


def test_a_run_belongs_to_the_owner_of_its_conversation(ask_as: Ask, ada: User, bob: User) -> None:
    (run,) = ask_as(ada)
    run.owner = bob
    run.save()
    run.refresh_from_db()
    assert run.owner == ada
