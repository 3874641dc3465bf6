"""The plan of a run while it works: who follows sees its goals ticked as they are reached."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async
from django.test import Client

from chat.models import Conversation, Run, User
from chat.runs.record.turn_events import TurnEvents
from chat.stream.render import render_run
from tests.integration.here import here

PageOf = Callable[..., Awaitable[Any]]
PLAN = {"phases": [{"name": "Count", "goals": ["Add <b>numbers</b>", "Tell the sum"]}]}


def step(tool: str, **parameters: Any) -> dict[str, Any]:
    action = {"tool": tool, "parameters": parameters}
    return {"say": json.dumps({"thought": "so", "action": action})}


SCRIPT = [
    {"say": json.dumps(PLAN)},
    step("calculator", expression="2 + 2"),
    step("complete", result="4"),
    step("complete", result="It is **4**."),
]
PLANNED: dict[str, Any] = {
    "policy": "planned",
    "tools": ("calculator",),
    "settings": {"planning": "always"},
}


async def test_who_follows_is_sent_the_plan_with_each_turn_that_changes_it(
    page_of: PageOf, ada: User, conversation: Conversation, asked: Callable[..., Run], working: Any
) -> None:
    page = await page_of(ada, conversation)
    await page.hello()
    run = await database_sync_to_async(asked)(SCRIPT, **PLANNED)
    async with working(run):
        end = await page.end_of(run.pk)

    turns = [event for event in page.events(run.pk) if event["type"] == "turn.completed"]
    assert ["plan" in event for event in turns] == [True, False, True, True]
    counts = ["0 of 2", "1 of 2", "2 of 2"]
    for count, event in zip(counts, (turns[0], turns[2], turns[3]), strict=True):
        assert f"{count} goals reached" in event["plan"]
        assert f'id="run-{run.pk}-plan"' in event["plan"]
    assert "&lt;b&gt;numbers" in turns[0]["plan"]
    assert 'aria-current="step"' in turns[0]["plan"]
    assert "2 of 2 goals reached" in end["events"][-1]["html"]


def test_the_transcript_and_the_conversation_show_the_plan_as_it_stands(
    client: Client, ada: User, asked: Callable[..., Run]
) -> None:
    failing = [*SCRIPT[:3], step("fail", reason="no"), {"say": '{"goals": ["Guess it"]}'}]
    run = asked([*failing, step("fail", reason="no"), {"say": '{"goals": []}'}], **PLANNED)
    here().work(run.pk)
    client.force_login(ada)
    run.refresh_from_db()

    for page in (client.get(run.get_absolute_url()).content.decode(), render_run(run)):
        assert page.count('class="plan"') == 1
        assert "1 of 2 goals reached" in page
        for state in ("reached", "replaced", "failed"):
            assert f"goal--{state}" in page


def test_a_run_of_another_policy_has_no_plan(asked: Callable[..., Run]) -> None:
    run = asked([{"say": "Thought: So.\nFinal Answer: 4"}])
    here().work(run.pk)

    assert 'class="plan"' not in render_run(run)


def test_a_worker_that_takes_over_goes_on_with_the_plan_that_was_shown(
    asked: Callable[..., Run],
) -> None:
    run = asked(SCRIPT, **PLANNED)
    here().work(run.pk)
    *before, last = run.turns.order_by("index")

    told = TurnEvents(run, before)

    assert "2 of 2 goals reached" in told.completed(last)["plan"]
    assert "plan" not in told.completed(last)


def test_a_stranger_is_shown_no_plan(client: Client, bob: User, asked: Callable[..., Run]) -> None:
    run = asked(SCRIPT, **PLANNED)
    here().work(run.pk)
    client.force_login(bob)

    assert client.get(run.get_absolute_url()).status_code == 404
