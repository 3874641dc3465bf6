"""More than a model takes: every policy answers all the same, and the record stays whole."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from agents.contracts import EndReason, Status
from agents.policies import POLICIES
from agents.prompting.compaction import LEFT_OUT
from agents.summarize import INSUFFICIENT
from agents.tools.spec import tool
from tests.unit.agents.policies.small_context.conftest import LONG, Play, Serve, page_text
from tests.unit.agents.policies.small_context.counting_server import LENGTH
from tests.unit.agents.policies.small_context.scripts import (
    ANSWER,
    PAGES,
    SCRIPTS,
    labelled,
)

GOAL = "What do the ten pages say?"
MARK = re.compile(r'read_more with \{"turn": 1, "offset": (\d+)\} reads on')


@tool()
def short_page(number: int) -> str:
    """Read a short page of the book by its number."""
    return page_text(number)[:1_500]


def test_every_policy_is_tried_here() -> None:
    assert set(SCRIPTS) <= set(POLICIES)


@pytest.mark.parametrize("tells", [True, False], ids=["told", "refused"])
@pytest.mark.parametrize("policy", SCRIPTS)
def test_a_long_conversation_and_ten_long_results_come_to_an_answer(
    serve: Serve, play: Play, policy: str, tells: bool
) -> None:
    server = serve(SCRIPTS[policy], tells=tells)

    played = play(policy, server, goal=GOAL, history=LONG)

    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, ANSWER)
    assert max(server.counts) <= LENGTH
    assert server.refusals <= (0 if tells else 2)
    seen = [one.text for turn in played.state.turns for one in turn.observations]
    assert seen == [page_text(number) for number in PAGES]
    assert played.state.history == LONG
    asked = [body for body in server.bodies if "Step:" not in body["messages"][-1]["content"]]
    assert all(any(GOAL in str(one["content"]) for one in body["messages"]) for body in asked)


@pytest.mark.parametrize("names", [True, False], ids=["with its length", "without"])
@pytest.mark.parametrize("policy", SCRIPTS)
def test_a_server_that_refuses_whatever_it_is_told_ends_the_run_with_what_there_is(
    serve: Serve, play: Play, policy: str, names: bool
) -> None:
    server = serve([], tells=False, names=names)
    server.length = 300

    played = play(policy, server, goal=GOAL, history=LONG)

    assert played.outcome.status is Status.EXHAUSTED
    assert played.outcome.partial
    assert played.outcome.answer == INSUFFICIENT
    assert "longer than it takes" in played.outcome.message
    assert server.counts == []


@pytest.mark.parametrize("policy", SCRIPTS)
def test_a_request_is_never_asked_anew_more_often_than_once(
    serve: Serve, play: Play, policy: str
) -> None:
    server = serve(SCRIPTS[policy], tells=False, names=False)
    server.length = 5_000

    played = play(policy, server, goal=GOAL, history=LONG)

    assert played.outcome.answer
    assert played.outcome.reason is not EndReason.INTERNAL
    assert [turn.index for turn in played.state.turns] == list(range(len(played.state.turns)))


def test_what_is_left_out_is_said_and_read_on_where_it_ends(serve: Serve, play: Play) -> None:
    def reads_on(body: dict[str, Any]) -> str:
        mark = MARK.search(body["messages"][-1]["content"])
        inputs = {"turn": 1, "offset": int(mark[1])} if mark else {}
        return f"more\nAction: read_more\nAction Input: {json.dumps(inputs)}"

    server = serve([labelled(1), reads_on, "Final Answer: a"])

    played = play("explicit", server, goal=GOAL)

    marks = [MARK.search(body["messages"][-1]["content"]) for body in server.bodies]
    assert marks[0] is None
    assert marks[1] is not None
    assert "read_more" not in server.bodies[0]["messages"][0]["content"]
    assert "read_more" in server.bodies[1]["messages"][0]["content"]
    read = played.state.turns[1].observations[0].text.splitlines()
    offset = int(marks[1][1])
    assert read[0].startswith(f"[Characters {offset + 1:,} to ")
    assert page_text(1)[offset:].startswith(read[1][:500])
    assert played.outcome.status is Status.SUCCEEDED


def test_nobody_is_given_read_more_who_was_told_all(serve: Serve, play: Play) -> None:
    server = serve(["Final Answer: a"])

    play("explicit", server, goal=GOAL)

    assert "read_more" not in str(server.bodies)


@pytest.mark.parametrize("policy", ["explicit", "self_repair", "native"])
def test_what_is_told_keeps_its_beginning_while_nothing_more_is_left_out(
    serve: Serve, play: Play, policy: str
) -> None:
    server = serve(SCRIPTS[policy])

    play(policy, server, goal=GOAL, tools=[replace(short_page, name="page")])

    texts = ["".join(str(one["content"]) for one in b["messages"]) for b in server.bodies]
    kept = [after.startswith(before[:-9]) for before, after in pairwise(texts)]
    assert kept.count(True) >= len(kept) - 2
    assert max(server.counts) <= LENGTH


def test_earlier_exchanges_that_are_left_out_are_counted(serve: Serve, play: Play) -> None:
    server = serve(["Final Answer: a"])

    play("explicit", server, goal=GOAL, history=LONG)

    told = [one["content"] for one in server.bodies[0]["messages"]]
    marks = [re.match(r"\((\d+) earlier exchanges? (?:is|are) left out here", one) for one in told]
    left_out = [int(mark[1]) for mark in marks if mark]
    assert LEFT_OUT in told
    assert left_out == [len(LONG) - sum("What came in part" in one for one in told)]
