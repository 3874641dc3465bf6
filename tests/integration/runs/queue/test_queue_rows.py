"""The rows of the queue are what its runs say, whatever happens to them."""

import random
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

from django.db import connection
from django.db.models import Q
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import Conversation, Lane, Queue, Run, RunStatus, User
from chat.runs import lease
from chat.runs.lease import LeaseLost
from chat.runs.queue import ahead_of, anybody_waits
from chat.runs.stop import request_stop
from chat.runs.worker.claim import claim_next
from chat.runs.worker.queue_repair import repair_queues
from tests.integration.runs.queue.claims import all_claimed, claimed, end

Ask = Callable[..., list[Run]]

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
