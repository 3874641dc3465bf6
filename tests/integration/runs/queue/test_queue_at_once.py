"""Many who claim, ask and stop at once take no run twice, and wait for no line in vain."""

import threading
import uuid
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction
from django.db.models import Count

from chat.models import Queue, Run, RunStatus, User
from chat.runs.ask import ask
from chat.runs.stop import request_stop
from chat.runs.worker.claim import claim_next
from tests.integration.here import here
from tests.integration.runs.queue.claims import claimed

Ask = Callable[..., list[Run]]


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
