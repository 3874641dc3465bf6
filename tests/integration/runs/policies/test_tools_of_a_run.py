"""A run has the tools that the administrator set up, and its question back to the person stays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agents.act.approval import needs_approval
from agents.policies.makeup import makeup
from chat.models import Conversation, Policy, PolicyVersion, Run, RunStatus
from chat.policies import publish_seeds
from chat.runs import tools
from chat.runs.approvals import decide
from chat.runs.ask import ask
from chat.runs.resume import history
from chat.runs.words import status_in_words
from tests.integration.here import here
from tests.page_server import Page

ASK = 'Thought: It is not said.\nAction: ask_user\nAction Input: {"question": "Which city?"}'
ANSWER = "Thought: I know now.\nFinal Answer: Done."


def test_a_question_back_ends_the_run_and_the_next_message_goes_on_from_it(
    asked: Callable[..., Run],
    scripted: Callable[..., PolicyVersion],
    conversation: Conversation,
) -> None:
    run = asked([{"say": ASK}], question="What is the weather?", tools=("ask_user",))
    here().work(run.pk)
    run.refresh_from_db()
    follower = ask(
        conversation,
        "Oslo",
        policy_version=scripted([{"say": ANSWER}]),
        client_message_id=uuid4(),
    )

    assert (run.status, run.reason, run.answer) == (RunStatus.SUCCEEDED, "asked", "Which city?")
    assert status_in_words(run).startswith("Has a question for you")
    [action] = run.turns.get().as_contract().actions
    assert action.observation is not None
    exchange = history(follower)[0]
    assert (exchange.question, exchange.answer) == ("What is the weather?", "Which city?")


def test_a_question_back_that_was_stored_before_a_crash_ends_the_run_on_the_next_attempt(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": ASK}], tools=("ask_user",))
    here().work(run.pk)
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.INTERRUPTED, reason="", answer="", ended_at=None
    )

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.reason, run.answer, run.turns.count()) == ("asked", "Which city?", 1)


def test_a_server_that_is_down_leaves_the_run_its_other_tools(
    asked: Callable[..., Run], set_up: Callable[..., None], tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    down = {"command": str(tmp_path / "no-such-program")}
    file.write_text(json.dumps({"mcpServers": {"down": down}}))
    set_up(TURNSTONE_MCP=str(file))
    action = "Action: down__x\nAction Input: {}"

    run = asked([{"say": action}, {"say": ANSWER}], tools=("calculator", "down__*"))
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "Done.")
    assert "Available tools: calculator." in (run.turns.all()[0].actions[0].observation or "")


def test_an_unknown_tool_fails_the_run_in_words(asked: Callable[..., Run]) -> None:
    run = asked([{"say": ANSWER}], tools=("calculator", "teleport"))
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "configuration")
    assert "There is no tool 'teleport'" in run.message


@pytest.mark.parametrize("is_on", [False, True])
def test_the_seeded_policies_reach_the_network_only_where_it_is_switched_on(
    transactional_db: None, settings: Any, is_on: bool
) -> None:
    settings.NETWORK_TOOLS = is_on
    publish_seeds()

    for policy in Policy.objects.all():
        named = set(policy.versions.latest("number").spec.tools)
        assert ({"web_search", "wikipedia", "arxiv", "http_get"} <= named) is is_on


def test_the_network_that_was_switched_on_can_be_switched_off_again(
    transactional_db: None, settings: Any
) -> None:
    tools_of: list[tuple[str, ...]] = []
    for settings.NETWORK_TOOLS in (False, True, False, False):
        publish_seeds()
        tools_of.append(Policy.objects.get(slug="explicit").latest.spec.tools)

    assert tools_of[0] == tools_of[2]
    assert "http_get" in tools_of[1]
    assert Policy.objects.get(slug="explicit").latest.number == 3


def test_a_release_with_another_prompt_publishes_a_version_by_itself(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_seeds()
    team = Policy.objects.get(slug="rewoo")
    own = team.publish(team.latest.spec.model_copy(update={"tools": ("calculator",)}))
    monkeypatch.setattr(
        "chat.models.policy.makeup", lambda spec: makeup(spec) | {"prompts": "others"}
    )

    publish_seeds()
    publish_seeds()

    explicit = Policy.objects.get(slug="explicit")
    newest, before = explicit.versions.all()
    assert (newest.number, newest.made_of["prompts"]) == (2, "others")
    assert newest.content == before.content
    assert team.latest == own


def test_a_run_of_an_old_version_reaches_nothing_after_the_network_was_switched_off(
    asked: Callable[..., Run], set_up: Callable[..., None], page: Page
) -> None:
    set_up(TURNSTONE_HTTP_ALLOW=page.place)
    fetch = f"Thought: I look.\nAction: http_get\nAction Input: {page.url}"

    run = asked([{"say": fetch}, {"say": ANSWER}], tools=("calculator", "http_get"))
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, page.heard) == (RunStatus.SUCCEEDED, [])
    assert "Available tools: calculator." in (run.turns.all()[0].actions[0].observation or "")


def test_a_yes_that_comes_after_the_network_was_switched_off_reaches_nothing(
    asked: Callable[..., Run], set_up: Callable[..., None], page: Page, settings: Any
) -> None:
    settings.NETWORK_TOOLS = True
    set_up(TURNSTONE_HTTP_ALLOW=page.place)
    fetch = f"Thought: I look.\nAction: http_get\nAction Input: {page.url}"
    run = asked([{"say": fetch}, {"say": ANSWER}], tools=("http_get",), approve=("http_get",))
    here().work(run.pk)

    settings.NETWORK_TOOLS = False
    decide(run.approvals.get(), by=run.conversation.owner, grant=True)
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, page.heard) == (RunStatus.SUCCEEDED, [])


def test_the_careful_policy_asks_about_all_that_runs_code_or_reaches_out(
    transactional_db: None, settings: Any, asked: Callable[..., Run]
) -> None:
    settings.NETWORK_TOOLS = True
    publish_seeds()
    spec = Policy.objects.get(slug="careful").latest.spec
    kit = tools.tools_for(asked([{"say": ANSWER}]), spec.tools, tools.read_setup())

    is_asked = {tool.name for tool in kit.tools if needs_approval(tool, spec.approve)}

    harmless = {"calculator", "convert_units", "current_time", "search_transcripts", "ask_user"}
    assert is_asked == set(kit.names) - harmless
    assert {"web_search", "wikipedia_search", "arxiv_search", "arxiv_read", "http_get"} <= is_asked
