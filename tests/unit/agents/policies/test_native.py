"""The native policy: real calls and results, answers in prose, and honest ends."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agents.contracts import EndReason, Message, Role, Status, ThoughtKind
from agents.errors import ConfigurationError
from agents.events import AnswerDelta, ThoughtDelta
from agents.providers.base import ModelRequest
from agents.providers.scripted import ScriptedProvider
from agents.text import CUT_SHORT
from agents.tools.spec import Tool
from tests.unit.agents.policies.conftest import TOOLS
from tests.unit.agents.policies.contract.scripts import calls

Stage = Callable[[str], Any]
SEARCH: Tool = TOOLS[0]
LONG = "A long answer that stands on its own. " * 20


class Listening(ScriptedProvider):
    """A scripted model that keeps what it was asked."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__([{"say": one} if isinstance(one, str) else one for one in script])
        self.requests: list[ModelRequest] = []

    def body(self, request: ModelRequest) -> str:
        self.requests.append(request)
        return super().body(request)

    @property
    def last(self) -> list[Message]:
        return list(self.requests[-1].messages)


def test_prose_without_a_call_is_the_answer_in_one_call(stage: Stage) -> None:
    played = stage("native").play(["Hi! How can I help?"], goal="Hi!")

    assert (played.outcome.status, played.outcome.answer) == (
        Status.SUCCEEDED,
        "Hi! How can I help?",
    )
    assert len(played.calls) == 1


def test_a_long_answer_is_shown_while_it_comes(stage: Stage) -> None:
    played = stage("native").play([LONG])

    shown = [event.text for event in played.events if isinstance(event, AnswerDelta)]
    assert len(shown) > 2
    assert "".join(shown) == played.outcome.answer == LONG.strip()


def test_what_is_said_before_a_call_is_a_thought_and_no_answer(stage: Stage) -> None:
    script = [calls(("search", {"query": "q"}), say="I look it up."), "found"]
    played = stage("native").play(script)

    assert not any(e.text == "I look it up." for e in played.events if isinstance(e, AnswerDelta))
    thought = played.state.turns[0].thought
    assert (thought.kind, thought.text) == (ThoughtKind.ACTION, "I look it up.")


def test_a_stop_behind_a_long_text_before_a_call_gives_it_as_no_answer(stage: Stage) -> None:
    script = [calls(("crashing", {"text": "q"}), say=LONG), {"fail": "refused"}]

    played = stage("native").play(script)

    assert (played.outcome.status, played.outcome.answer) == (Status.FAILED, "")


def test_thoughts_are_shown_apart_from_the_answer(stage: Stage) -> None:
    played = stage("native").play([{"say": "<think>and</think>42", "reasoning": "hm "}])

    thoughts = "".join(e.text for e in played.events if isinstance(e, ThoughtDelta))
    assert (thoughts, played.outcome.answer) == ("hm and", "42")


def test_calls_and_results_go_back_with_their_ids_and_what_the_server_wants(stage: Stage) -> None:
    kept = [{"reasoning_content": "so"}]
    made = [
        {"tool": "search", "inputs": {"query": "q"}, "id": "a1", "kept": kept},
        {"tool": "add", "inputs": {"left": 2}, "id": "a2"},
    ]
    model = Listening([{"say": "I look.", "calls": made}, "done"])

    stage("native").play(provider=model)

    told = model.last[-4:]
    assert [m.role for m in told] == [Role.TOOL_REQUEST] * 2 + [Role.TOOL_RESULT] * 2
    assert [m.call_id for m in told] == ["a1", "a2", "a1", "a2"]
    assert [m.content for m in told[:2]] == ["I look.", ""]
    assert told[0].kept == tuple(kept)
    assert "\nran q\n</observation" in told[2].content
    assert "\n3\n</observation" in told[3].content


def test_ids_that_a_server_gives_twice_become_unique(stage: Stage) -> None:
    model = Listening(
        [calls(("search", {"query": "q"})), calls(("search", {"query": "r"})), "done"]
    )

    stage("native").play(provider=model)

    ids = [message.call_id for message in model.last if message.role is Role.TOOL_REQUEST]
    assert len(set(ids)) == 2


def test_every_tool_is_offered_with_its_schema(stage: Stage) -> None:
    model = Listening(["done"])

    stage("native").play(provider=model)

    offered = {tool.name: tool for tool in model.requests[0].tools}
    assert {"search", "add", "broken"} <= offered.keys()
    assert offered["add"].inputs["required"] == ["left"]
    assert model.requests[0].tool_choice == "auto"


def test_only_the_first_request_is_told_what_to_call(stage: Stage) -> None:
    model = Listening([calls(("search", {"query": "q"})), "done"])

    stage("native").play(provider=model, tool_choice="search")

    assert [request.tool_choice for request in model.requests] == ["search", "auto"]


def test_a_choice_that_is_no_tool_is_refused(stage: Stage) -> None:
    with pytest.raises(ConfigurationError, match="tool_choice"):
        stage("native").play(["x"], tool_choice="dance")


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (("ghost", {}), "ToolNotFound", "Unknown tool: ghost"),
        (("add", {"left": "x"}), "InvalidInputs", "left"),
        (("add", '{"left": 2, "ri'), "InvalidInputs", "one JSON object"),
        (("", {}), "InvalidInputs", "names no tool"),
    ],
)
def test_a_call_that_cannot_be_made_is_told_to_the_model(
    stage: Stage, call: tuple[str, Any], error: str, said: str
) -> None:
    model = Listening([calls(call), "I see."])

    played = stage("native").play(provider=model)

    (observation,) = played.state.turns[0].observations
    assert observation.error == error
    assert said in observation.text
    assert observation.text in model.last[-1].content
    assert played.outcome.status is Status.SUCCEEDED


def test_a_call_that_was_cut_off_is_not_carried_out(stage: Stage) -> None:
    made = [{"tool": "send", "inputs": '{"text": "pay 1'}]
    entry = {"say": "", "calls": made, "stop_reason": "length"}

    played = stage("native").play([entry, "I stop."])

    (observation,) = played.state.turns[0].observations
    assert "cut off" in observation.text


def test_a_cut_answer_is_no_success(stage: Stage) -> None:
    played = stage("native").play([{"say": "The answer is", "stop_reason": "length"}])

    assert played.outcome.status is Status.EXHAUSTED
    assert played.outcome.partial
    assert played.outcome.answer == f"The answer is{CUT_SHORT}"


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call>{"name": "search", "arguments": {"query": "q"}}</tool_call>',
        '[TOOL_CALLS][{"name": "search", "arguments": {"query": "q"}}]',
        '{"name": "search", "arguments": {"query": "q"}}',
        "<function=search><parameter=query>q</parameter></function>",
    ],
)
def test_a_call_that_was_only_written_is_carried_out_and_told_as_a_call(
    stage: Stage, written: str
) -> None:
    model = Listening([written, "found"])

    played = stage("native").play(provider=model)

    (call,) = played.state.turns[0].calls
    assert (call.tool, call.inputs) == ("search", {"query": "q"})
    assert [message.role for message in model.last[-2:]] == [Role.TOOL_REQUEST, Role.TOOL_RESULT]
    assert (played.outcome.answer, played.outcome.status) == ("found", Status.SUCCEEDED)


def test_a_written_call_that_breaks_off_is_never_the_answer(stage: Stage) -> None:
    broken = '<tool_call>{"name": "search", "arguments": {"que'

    played = stage("native").play([broken, broken, "the best I have"])

    assert played.state.turns[0].observations[0].error == "ParseError"
    assert played.outcome.reason is EndReason.FAILURES
    assert played.outcome.status is Status.EXHAUSTED
    assert len(played.calls) == 3


@pytest.mark.parametrize("answer", ['{"total": 42}', "Two points.\n\nAction: buy milk."])
def test_an_answer_that_only_looks_like_a_step_is_the_answer(stage: Stage, answer: str) -> None:
    played = stage("native").play([answer])

    assert (played.outcome.answer, played.outcome.status) == (answer, Status.SUCCEEDED)


def test_a_thought_under_its_label_is_no_answer(stage: Stage) -> None:
    played = stage("native").play(["Thought: I should look it up.", "42"])

    assert played.state.turns[0].observations[0].error == "ParseError"
    assert played.outcome.answer == "42"


def test_an_empty_reply_is_complained_of_once(stage: Stage) -> None:
    played = stage("native").play(["", "42"])

    assert played.state.turns[0].observations[0].error == "ParseError"
    assert (played.outcome.answer, played.outcome.status) == ("42", Status.SUCCEEDED)


def test_the_same_call_again_and_again_ends_the_run(stage: Stage) -> None:
    same = calls(("search", {"query": "q"}))

    played = stage("native").play([same, same, same, "the best I have"])

    assert played.outcome.reason is EndReason.REPEATS


def test_a_tool_with_a_name_that_no_server_takes_is_offered_under_another(stage: Stage) -> None:
    odd = replace(SEARCH, name="web.search")
    model = Listening([calls(("web_search", {"query": "q"})), "done"])

    played = stage("native").play(provider=model, tools=[odd])

    assert [tool.name for tool in model.requests[0].tools] == ["web_search"]
    assert played.state.turns[0].calls[0].tool == "web.search"
    assert [m.call.tool for m in model.last if m.call is not None] == ["web_search"] * 2
    assert json.loads(played.calls[0].request)["purpose"] == "think"
