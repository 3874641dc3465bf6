"""Whoever watches a run sees it through dying workers, deployments and stores that go away."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async

from chat.models import Conversation, PolicyVersion, Run, RunStatus, Turn, TurnStatus, User
from chat.runs.ask import ask
from tests.worker_stage.worker import Stage

WaitFor = Callable[..., None]
PageOf = Callable[..., Awaitable[Any]]
Follow = Callable[..., Awaitable[tuple[Run, Any]]]

WORDS = " ".join(f"word{number}" for number in range(60))
SUM = 'Thought: first\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
SLEEP = (
    "Thought: second\nAction: python_repl\n"
    'Action Input: {"code": "import time; time.sleep(1); print(\'slept\')"}'
)
ANSWER = {"say": f"Thought: I know\nFinal Answer: {WORDS}", "rate": 30}
CALCULATES = ({"say": SUM}, ANSWER)
SLEEPS = ({"say": SLEEP}, ANSWER)


@pytest.fixture
async def follow(
    worker: Stage,
    page_of: PageOf,
    ada: User,
    conversation: Conversation,
    scripted: Callable[..., PolicyVersion],
) -> Follow:
    """Ask a question of the real worker, and open a page that follows its run."""

    async def begin(*script: dict[str, Any], **fields: Any) -> tuple[Run, Any]:
        page = await page_of(ada, conversation)
        await page.hello()
        version = await sync_to_async(scripted)(script, **fields)
        run = await database_sync_to_async(ask)(
            conversation, "Go", policy_version=version, client_message_id=uuid.uuid4()
        )
        return run, page

    return begin


def observed(turn: Turn) -> list[str | None]:
    """Return what came back from each action of a turn."""
    return [action.observation for action in turn.actions]


async def seen(page: Any, run: Run, kind: str) -> dict[str, Any]:
    """Return the next event of a kind."""
    frame = await page.until(
        lambda frame: frame["type"] == "events" and kind in [e["type"] for e in frame["events"]],
        seconds=40,
    )
    return next(event for event in frame["events"] if event["type"] == kind)


def answer_of(page: Any, run: Run) -> str:
    """Return the answer as the page shows it: what came after its turn began for the last time."""
    text = ""
    for event in page.events(run.pk):
        if event["type"] in ("turn.started", "run.interrupted"):
            text = ""
        elif event["type"] == "answer.delta":
            text += event["text"]
    return text.strip()


def kinds(page: Any, run: Run, *wanted: str) -> list[str]:
    """Return the kinds of the wanted events in the order they came."""
    return [event["type"] for event in page.events(run.pk) if event["type"] in wanted]


async def test_a_run_outlives_the_sudden_death_of_its_worker_before_the_eyes_of_its_page(
    follow: Follow, worker: Stage
) -> None:
    run, page = await follow(*CALCULATES, tools=("calculator",))
    await seen(page, run, "answer.delta")
    worker.kill_worker()
    worker.start_worker()
    interrupted = await seen(page, run, "run.interrupted")
    await seen(page, run, "run.started")
    ended = await seen(page, run, "run.ended")

    await run.arefresh_from_db()
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, WORDS, 2)
    assert 'data-status="interrupted"' in interrupted["html"]
    assert ">42<" in interrupted["html"]
    assert WORDS in ended["html"]
    assert answer_of(page, run) == WORDS
    order = ("run.started", "run.interrupted", "run.ended")
    assert kinds(page, run, *order) == [
        "run.started",
        "run.interrupted",
        "run.started",
        "run.ended",
    ]
    assert "run.snapshot" not in {frame["type"] for frame in page.frames}


async def test_a_worker_that_is_told_to_stop_ends_its_step_and_hands_the_run_over(
    follow: Follow, worker: Stage
) -> None:
    run, page = await follow(*SLEEPS, tools=("python_repl",))
    await seen(page, run, "action.started")
    worker.ask_worker_to_stop()
    interrupted = await seen(page, run, "run.interrupted")
    assert worker.child is not None
    assert await asyncio.to_thread(worker.child.wait, 60)
    worker.start_worker()
    await seen(page, run, "run.ended")

    await run.arefresh_from_db()
    turns = [turn async for turn in run.turns.all()]
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, WORDS, 2)
    assert [(turn.attempt, observed(turn)) for turn in turns] == [(1, ["slept\n"]), (2, [])]
    assert "slept" in interrupted["html"]
    assert worker.child.code is None
    assert answer_of(page, run) == WORDS


async def test_a_step_that_outlasts_the_grace_is_cut_off_and_begun_anew(
    follow: Follow, worker: Stage
) -> None:
    run, page = await follow({"hang": True, "after": "Thought: I wait "})
    await seen(page, run, "thought.delta")
    worker.ask_worker_to_stop()
    await seen(page, run, "run.interrupted")
    await run.arefresh_from_db()

    assert (run.status, run.lease_until) == (RunStatus.INTERRUPTED, None)
    assert worker.child is not None
    assert await asyncio.to_thread(worker.child.wait, 60)
    worker.start_worker()
    assert (await seen(page, run, "run.started"))["attempt"] == 2


async def test_a_run_outlives_a_database_that_goes_away_and_comes_back(
    follow: Follow, worker: Stage, wait_for: WaitFor
) -> None:
    run, page = await follow(*SLEEPS, tools=("python_repl",))
    await seen(page, run, "action.started")
    worker.postgres.cut()
    waits = "chat.runs.db_retry: Waiting for Postgres"
    await asyncio.to_thread(wait_for, lambda: waits in worker.log.read_text(), "the worker's wait")
    worker.postgres.heal()
    await seen(page, run, "run.ended")

    await run.arefresh_from_db()
    turns = [turn async for turn in run.turns.all()]
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, WORDS)
    assert [turn.status for turn in turns] == [TurnStatus.COMPLETE] * 2
    assert observed(turns[0]) == ["slept\n"]
    assert answer_of(page, run) == WORDS


async def test_a_worker_that_is_told_to_stop_while_postgres_is_away_goes_and_its_run_goes_on(
    follow: Follow, worker: Stage
) -> None:
    run, page = await follow({"hang": True, "after": "Thought: I wait "})
    await seen(page, run, "thought.delta")
    worker.postgres.cut()
    worker.ask_worker_to_stop()
    assert worker.child is not None
    assert await asyncio.to_thread(worker.child.wait, 90)
    worker.heal()

    assert (await seen(page, run, "run.started"))["attempt"] == 2


async def test_what_redis_did_not_take_while_it_hung_comes_when_it_is_back(
    follow: Follow, worker: Stage, wait_for: WaitFor
) -> None:
    run, page = await follow(*CALCULATES, tools=("calculator",))
    await seen(page, run, "answer.delta")
    worker.redis.hang()
    succeeded = Run.objects.filter(pk=run.pk, status=RunStatus.SUCCEEDED)
    await database_sync_to_async(wait_for)(succeeded.exists, "the stored end")
    worker.redis.heal()
    await page.end_of(run.pk)

    await run.arefresh_from_db()
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, WORDS, 1)
    assert answer_of(page, run) == WORDS
