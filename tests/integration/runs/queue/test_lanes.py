"""Batch waits for chats: it gets a worker only where nobody's question waits for one."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from chat.models import Conversation, PolicyVersion, Queue, Run, Space, User
from chat.runs.ending import give_up
from chat.runs.queue import ahead_of, anybody_waits
from chat.runs.worker.claim import claim_next

Ask = Callable[..., list[Run]]
Claimed = Callable[[], Run]
MANY = 750

TRIALS = """
INSERT INTO chat_run (
  conversation_id, policy_version_id, client_message_id, question, status, reason, message, answer,
  answer_html, partial, provider, model, attempt, worker, stream_id
)
SELECT
  %s, %s, gen_random_uuid(), 'Trial ' || n, 'queued', '', '', '',
  '', false, '', '', 0, '', '0-0'
FROM generate_series(1, %s) AS n
"""


@pytest.fixture
def trials(ada: User, scripted: Callable[..., PolicyVersion]) -> list[int]:
    """Have 750 trials of Ada's wait, and return them in their order."""
    home = Conversation.objects.create(owner=ada, kind="trial")
    with connection.cursor() as cursor:
        cursor.execute(TRIALS, [home.pk, scripted([]).pk, MANY])
    return list(home.runs.order_by("pk").values_list("pk", flat=True))


def test_one_question_comes_before_750_trials_which_go_on_after_it(
    trials: list[int], ask_as: Ask, bob: User, claimed: Claimed
) -> None:
    first = claimed()
    (question,) = ask_as(bob)

    following = [claimed().pk for _ in range(2)]

    assert first.pk == trials[0]
    assert following == [question.pk, trials[1]]


def test_ones_own_question_does_not_wait_for_ones_own_trials(
    trials: list[int], ask_as: Ask, ada: User, claimed: Claimed, settings: Any
) -> None:
    settings.RUNS_PER_USER = 2
    for _ in range(2):
        claimed()
    assert not anybody_waits()

    (question,) = ask_as(ada)

    assert claimed().pk == question.pk
    assert claim_next("a worker") is None


def test_a_question_whose_asker_has_enough_at_work_keeps_no_trial_waiting(
    trials: list[int], ask_as: Ask, ada: User, claimed: Claimed, settings: Any
) -> None:
    settings.RUNS_PER_USER = 1
    hers = ask_as(ada, 2)
    assert claimed().pk == hers[0].pk

    assert claimed().pk == trials[0]


@pytest.mark.parametrize("kind", ["trial", "import", "fork"])
def test_what_is_no_chat_is_batch(ask_as: Ask, ada: User, bob: User, kind: str) -> None:
    (run,) = ask_as(ada, kind=kind)
    (question,) = ask_as(bob)

    run.refresh_from_db()
    assert (run.lane, run.space_id, question.lane) == ("batch", ada.pk, "chat")


def test_of_two_spaces_in_batch_each_has_its_first_before_the_others_second(
    trials: list[int], ask_as: Ask, bob: User, claimed: Claimed
) -> None:
    his = ask_as(bob, 2, kind="trial")

    order = [claimed().pk for _ in range(4)]

    assert order == [trials[0], his[0].pk, trials[1], his[1].pk]


def test_a_teams_runs_and_ones_own_are_of_two_queues(
    team: Space, ask_as: Ask, ada: User, claimed: Claimed, settings: Any
) -> None:
    settings.RUNS_PER_USER = 1
    own, teams = ask_as(ada, 2), ask_as(ada, 2, space=team)

    assert {claimed().pk, claimed().pk} == {own[0].pk, teams[0].pk}
    assert not anybody_waits()


def test_who_waits_in_batch_is_told_of_the_chats_ahead(
    trials: list[int], ask_as: Ask, bob: User
) -> None:
    (question,) = ask_as(bob)

    ahead = ahead_of([question.pk, trials[0], trials[1]])

    assert (ahead[question.pk], ahead[trials[0]]) == (0, 1)
    assert ahead[trials[1]] > ahead[trials[0]]


def test_no_trial_begins_while_another_worker_has_a_hand_on_a_waiting_question(
    trials: list[int], ask_as: Ask, bob: User, wait_for: Callable[..., None]
) -> None:
    (question,) = ask_as(bob)
    taken: list[int] = []

    def take() -> None:
        run = claim_next("a worker")
        if run is not None:
            taken.append(run.pk)
        connection.close()

    thread = threading.Thread(target=take)
    with transaction.atomic():
        Queue.objects.select_for_update().get(space=bob.pk)
        thread.start()
        wait_for(_is_somebody_blocked, "the worker to wait for the question's queue")
    thread.join(20)

    assert taken == [question.pk]


def test_a_worker_that_comes_too_late_for_a_question_takes_a_trial(
    trials: list[int], ask_as: Ask, bob: User, wait_for: Callable[..., None]
) -> None:
    (question,) = ask_as(bob)
    taken: list[int] = []

    def take() -> None:
        run = claim_next("another worker")
        if run is not None:
            taken.append(run.pk)
        connection.close()

    thread = threading.Thread(target=take)
    with transaction.atomic():
        run = claim_next("a worker")
        thread.start()
        wait_for(_is_somebody_blocked, "the other worker to wait for the question's queue")
    thread.join(20)

    assert run is not None
    assert (run.pk, taken) == (question.pk, [trials[0]])


def test_workers_that_take_what_waits_end_every_question_before_any_trial(
    trials: list[int], ask_as: Ask, ada: User, bob: User
) -> None:
    questions = {run.pk for run in (*ask_as(ada, 6), *ask_as(bob, 6))}
    taken: list[int] = []
    start = threading.Barrier(4)

    def take() -> None:
        start.wait()
        for _ in range(5):
            run = claim_next("a worker")
            if run is not None:
                taken.append(run.pk)
                give_up(run, "This test is done with it.")
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    last_question = max(taken.index(run) for run in questions)
    # A worker may take a trial while the last questions are at work, never while one waits.
    assert questions <= set(taken)
    assert last_question < len(questions) + len(threads)


def _is_somebody_blocked() -> bool:
    blocked = "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"
    with connection.cursor() as cursor:
        cursor.execute(blocked)
        return bool(cursor.fetchone()[0])
