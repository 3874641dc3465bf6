"""What every policy promises: order, one end, and the same result after a crash at any moment."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from agents.act.approval import ApprovalAnswer
from agents.contracts import EndReason, ModelCall, Observation, Status, ThoughtKind, ToolCall, Turn
from agents.control import Control
from agents.errors import ConfigurationError, Interrupted, Parked
from agents.events import (
    ActionsProposed,
    ActionStarted,
    AnswerDelta,
    Event,
    ModelCalled,
    ObservationDelta,
    Observed,
    RunEnded,
    ThoughtCompleted,
    ThoughtDelta,
    TurnCompleted,
    TurnStarted,
)
from agents.model.model import Model
from agents.policies import POLICIES, build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import Safety, Tool, tool
from agents.tools.toolkit import Toolkit


def node(kind: str, text: str) -> str:
    return json.dumps({"kind": kind, "text": text})


def goals(*descriptions: str) -> str:
    told = [{"description": text, "success_criteria": "seen"} for text in descriptions]
    return json.dumps({"phases": [{"name": "p", "goals": told}]})


def step(tool: str, **parameters: Any) -> str:
    return json.dumps({"thought": "t", "action": {"tool": tool, "parameters": parameters}})


SCRIPTS: dict[str, tuple[str, ...]] = {
    "explicit": (
        "first\nAction: search\nAction Input: q",
        "no format at all",
        "then\nAction: broken\nAction Input: x",
        "then\nAction: ghost\nAction Input: x",
        'then\nAction: add\nAction Input: {"left": 2, "right": 3}',
        "enough\nFinal Answer: two\n\nlines",
    ),
    "implicit": (
        node("THOUGHT", "first"),
        node("ACTION", "look it up"),
        "search",
        '{"query": "q"}',
        "no node at all",
        node("ACTION", "break it"),
        "broken",
        "no inputs",
        '{"text": "x"}',
        node("ACTION", "do the impossible"),
        "none",
        node("FINAL", "two\n\nlines"),
    ),
    "plan_execute": (
        'Intent: i\nTool Calls: [{"toolName": "search"',
        "<think>so</think>\nIntent: i\nPlan: p\nTool Calls:\n```json\n"
        '[{"callId": "1", "toolName": "search", "arguments": {"query": "q"}},'
        ' {"callId": "2", "toolName": "broken", "arguments": {"text": "x"}},'
        ' {"callId": "3", "toolName": "ghost"},'
        ' {"callId": "4", "toolName": "add", "arguments": {"left": 2, "right": 3}}]\n```',
        "two\n\nlines",
    ),
    "planned": (
        goals("find", "add"),
        step("search", query="q"),
        "<think>so</think>" + step("broken", text="x").replace("}}", "},}"),
        "<thought>then</thought><action tool='ghost'/>",
        step("complete", result="found"),
        "no format at all",
        "Thought: then\nAction: add\nAction Input: {left: 2}",
        step("add", left=2, right=3),
        step("complete", result="two\n\nlines"),
    ),
    "reflexion": (
        "first\nAction: search\nAction Input: q",
        "no format at all",
        "then\nAction: broken\nAction Input: x",
        "<think>so</think>I broke it; I add instead.",
        "then\nAction: ghost\nAction Input: x",
        'then\nAction: add\nAction Input: {"left": 2, "right": 3}',
        "enough\nFinal Answer: two\n\nlines",
    ),
    "rewoo": (
        "Plan: use what is not there\n#E1 = search[#E7]",
        "<think>so</think>\nPlan: find\n#E1 = search[q]\nPlan: break\n**#E2** = broken[#E1]",
        'It broke.\n```\nPlan: add\n#E3 = add[{"left": 2, "right": 3}]\n'
        "Plan: say\n#E4 = LLM[Say #E3 of #E1]\n```",
        "five of ran q",
        "two\n\nlines",
    ),
    "self_repair": (
        'first\nAction: {"tool": "search", "inputs": {"query": "q", "zzz": 1}}',
        'then\nAction: {"tool": "add", "inputs": [1]}',
        'The inputs were a list.\nAction: {"tool": "ghost", "inputs": {}}',
        'No such tool.\nAction: {"tool": "broken", "inputs": {"text": "x"}}',
        'Try again.\nAction: {"tool": "broken", "inputs": {"text": "y"}}',
        'Action: {"tool": null}',
        '<think>so</think>on\n```json\nAction: {"tool": "add", "inputs": {"left": 2,}}',
        "enough, I think",
        "two\n\nlines",
    ),
}
LIMITS = {"answered": 9, "out of turns": 2}
CASES = [(policy, limit) for policy in SCRIPTS for limit in LIMITS]

ORDER: dict[type, tuple[type, ...]] = {
    TurnStarted: (ThoughtDelta, AnswerDelta, ModelCalled),
    ThoughtDelta: (ThoughtDelta, AnswerDelta, ModelCalled, ThoughtCompleted),
    AnswerDelta: (AnswerDelta, ModelCalled, ThoughtCompleted, RunEnded),
    ModelCalled: (
        ModelCalled,
        ThoughtDelta,
        AnswerDelta,
        ThoughtCompleted,
        ActionsProposed,
        Observed,
        RunEnded,
    ),
    ThoughtCompleted: (ActionsProposed, Observed, ModelCalled, TurnCompleted),
    ActionsProposed: (ActionStarted,),
    ActionStarted: (ObservationDelta, Observed),
    ObservationDelta: (ObservationDelta, ModelCalled, Observed),
    Observed: (TurnCompleted,),
    TurnCompleted: (TurnStarted, AnswerDelta, ModelCalled, RunEnded),
    RunEnded: (),
}


def observations(state: State) -> list[Observation | None]:
    """Return what came back from each action of a run."""
    actions = (action for turn in state.turns for action in turn.actions)
    return [action.observation for action in actions if action.call is not None]


def script(policy: str, limit: str) -> list[str]:
    """Return the policy's script; what comes after its last turn is the summary."""
    if limit == "answered":
        return list(SCRIPTS[policy])
    calls = 4 if policy == "implicit" else 2
    return [*SCRIPTS[policy][:calls], "the best I have"]


@pytest.fixture(params=CASES, ids=[" ".join(case) for case in CASES])
def case(request: pytest.FixtureRequest, stage: Callable[[str], Any]) -> tuple[Any, list[str], int]:
    policy, limit = request.param
    return stage(policy), script(policy, limit), LIMITS[limit]


def test_every_policy_is_tried_here() -> None:
    assert SCRIPTS.keys() == POLICIES.keys()


def test_events_come_in_order(case: tuple[Any, list[str], int]) -> None:
    stage, said, turns = case

    events = stage.play(said, max_turns=turns).events

    assert isinstance(events[0], TurnStarted)
    assert all(isinstance(later, ORDER[type(event)]) for event, later in pairwise(events))


def test_each_turn_is_completed_once_and_the_run_ended_once_and_last(
    case: tuple[Any, list[str], int],
) -> None:
    stage, said, turns = case

    played = stage.play(said, max_turns=turns)

    completed = [event.turn for event in played.events if isinstance(event, TurnCompleted)]
    assert completed == played.state.turns
    assert [event for event in played.events if isinstance(event, RunEnded)] == played.events[-1:]


def test_the_answer_on_the_page_is_the_answer_of_the_run(case: tuple[Any, list[str], int]) -> None:
    stage, said, turns = case

    played = stage.play(said, max_turns=turns)

    shown = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    assert shown == played.outcome.answer


def test_the_whole_script_is_needed(case: tuple[Any, list[str], int]) -> None:
    stage, said, turns = case

    played = stage.play(said, max_turns=turns)

    assert [call.reply for call in played.calls] == said


def test_a_stop_at_any_event_leaves_a_whole_state(case: tuple[Any, list[str], int]) -> None:
    stage, said, turns = case
    whole = stage.play(said, max_turns=turns)

    for moment in range(len(whole.events) - 1):
        control, state, events = Control(), State("Q?"), list[Event]()
        for event in stage.events(said, state, max_turns=turns, control=control):
            events.append(event)
            if len(events) == moment + 1:
                control.stop()
        assert isinstance(events[-1], RunEnded)
        assert state.outcome is not None
        assert state.outcome.status is Status.STOPPED or state.outcome == whole.outcome
        assert all(turn.thought is not None for turn in state.turns)
        assert all(turn.is_observed for turn in state.turns if turn.actions)


def test_an_interruption_at_any_event_raises_and_tells_no_end(
    case: tuple[Any, list[str], int],
) -> None:
    stage, said, turns = case
    control, events = Control(), list[Event]()

    def play() -> None:
        for event in stage.events(said, State("Q?"), max_turns=turns, control=control):
            events.append(event)
            control.interrupt()

    with pytest.raises(Interrupted):
        play()
    assert not any(isinstance(event, RunEnded) for event in events)


@dataclass
class Stored:
    """What is left of a run after a crash, and how many calls need not be made again."""

    turns: list[Turn]
    is_open: bool
    calls: int
    completed: int
    events: int


def all_of_it(events: Sequence[Event]) -> Stored:
    """Keep every event that was seen."""
    state, calls, made = State("Q?"), 0, 0
    for event in events:
        state.apply(event)
        made += isinstance(event, ModelCalled)
        if isinstance(event, ThoughtCompleted | ActionsProposed | Observed | TurnCompleted):
            calls = made
    completed = sum(isinstance(event, TurnCompleted) for event in events)
    return Stored(state.turns, state.is_open, calls, completed, len(events))


def turns_and_proposals(events: Sequence[Event]) -> Stored:
    """Keep complete turns, and the open one once its action is stored, as the recorder does."""
    kept, state = 0, State("Q?")
    for number, event in enumerate(events, start=1):
        state.apply(event)
        wants_a_tool = isinstance(event, ThoughtCompleted) and (
            event.node.kind is ThoughtKind.ACTION and not event.node.calls
        )
        if isinstance(event, TurnCompleted | ActionsProposed) or wants_a_tool:
            kept = number
    return all_of_it(events[:kept])


@pytest.mark.parametrize("store", [all_of_it, turns_and_proposals])
def test_a_crash_at_any_event_changes_nothing_in_the_end(
    case: tuple[Any, list[str], int], store: Callable[[Sequence[Event]], Stored]
) -> None:
    stage, said, turns = case
    whole = stage.play(said, max_turns=turns)

    for moment in range(len(whole.events)):
        stored = store(whole.events[:moment])
        state = State("Q?", turns=stored.turns, is_open=stored.is_open)
        events = list(stage.events(said, state, max_turns=turns, position=stored.calls))
        assert (state.turns, state.outcome) == (whole.state.turns, whole.state.outcome)
        completed = sum(isinstance(event, TurnCompleted) for event in events)
        assert stored.completed + completed == len(whole.state.turns)


@pytest.mark.parametrize("policy", POLICIES)
def test_an_answered_run_is_only_closed(policy: str, stage: Callable[[str], Any]) -> None:
    whole = stage(policy).play(script(policy, "answered"), max_turns=9)

    again = stage(policy).play(state=State("Q?", turns=whole.state.turns))

    assert again.events == [RunEnded(outcome=whole.outcome)]


BEST = "the best so far"
SPENT = [(policy, calls) for policy in SCRIPTS for calls in range(1, len(SCRIPTS[policy]))]
"""Each policy, and after how many calls of its script nothing is left to spend."""


class Calls:
    """A budget that counts calls."""

    used = "The run's budget is used up."

    def __init__(self, most: int) -> None:
        self._left = most

    @property
    def is_used_up(self) -> bool:
        return self._left <= 0

    def count(self, call: ModelCall) -> None:
        self._left -= 1


@pytest.mark.parametrize(("policy", "calls"), SPENT)
def test_a_used_up_budget_leaves_one_call_for_the_best_answer(
    policy: str, calls: int, stage: Callable[[str], Any]
) -> None:
    said = [*SCRIPTS[policy][:calls], BEST]

    played = stage(policy).play(said, max_turns=9, budget=Calls(calls))

    assert [call.purpose for call in played.calls][calls:] == ["summarize"]
    assert (played.outcome.status, played.outcome.reason) == (Status.EXHAUSTED, EndReason.BUDGET)
    assert (played.outcome.answer, played.outcome.partial) == (BEST, True)
    assert played.outcome.message == Calls.used
    completed = [event.turn for event in played.events if isinstance(event, TurnCompleted)]
    assert completed == played.state.turns


@pytest.mark.parametrize(("policy", "calls"), SPENT)
def test_a_crash_after_the_budget_is_used_up_ends_the_run_as_honestly(
    policy: str, calls: int, stage: Callable[[str], Any]
) -> None:
    said = [*SCRIPTS[policy][:calls], BEST]
    whole = stage(policy).play(said, max_turns=9, budget=Calls(calls))
    last = next(n for n, event in enumerate(whole.events) if event == _last_paid(whole, calls))

    for moment in range(last + 1, len(whole.events)):
        stored = turns_and_proposals(whole.events[:moment])
        state = State("Q?", turns=stored.turns, is_open=stored.is_open)
        events = list(
            stage(policy).events(said, state, max_turns=9, position=calls, budget=Calls(0))
        )
        assert state.outcome is not None
        assert (state.outcome.reason, state.outcome.answer) == (EndReason.BUDGET, BEST)
        completed = sum(isinstance(event, TurnCompleted) for event in events)
        assert stored.completed + completed == len(state.turns)


def _last_paid(played: Any, calls: int) -> ModelCalled:
    return ModelCalled(call=played.calls[calls - 1])


TELL: dict[str, list[str]] = {
    "explicit": ["s\nAction: send\nAction Input: x", "t\nFinal Answer: a"],
    "implicit": [node("ACTION", "tell"), "send", '{"text": "x"}', node("FINAL", "a")],
    "self_repair": [
        's\nAction: {"tool": "send", "inputs": {"text": "x"}}',
        "t\n<__final_answer__>a</__final_answer__>",
    ],
    "plan_execute": [
        'Tool Calls: [{"toolName": "send", "arguments": {"text": "x"}}]',
        "a",
    ],
    "reflexion": ["s\nAction: send\nAction Input: x", "t\nFinal Answer: a"],
    "rewoo": ["Plan: tell\n#E1 = send[x]", "Plan: answer directly", "a"],
    "planned": [goals("tell"), step("send", text="x"), step("complete", result="a")],
}
"""A run with one call that may not be made twice, by policy; its answer is `a`."""


@pytest.mark.parametrize("policy", POLICIES)
def test_a_call_that_may_not_be_made_twice_is_not(policy: str, stage: Callable[[str], Any]) -> None:
    said = TELL[policy]
    events = stage(policy).play(said).events
    proposed = next(n for n, event in enumerate(events) if isinstance(event, ActionsProposed))
    stored = all_of_it(events[: proposed + 1])

    state = State("Q?", turns=stored.turns, is_open=stored.is_open)
    again = list(stage(policy).events(said, state, position=stored.calls))

    assert not any(isinstance(event, ActionStarted) for event in again)
    (observation,) = observations(state)
    assert observation is not None
    assert observation.error == "Interrupted"
    assert state.outcome is not None
    assert state.outcome.answer == "a"


class Desk:
    """Where approvals lie: an action is asked about once, answered, and begun at most once."""

    def __init__(self) -> None:
        self.open: list[ToolCall] = []
        self.answer: ApprovalAnswer | None = None
        self.begun: list[ToolCall] = []

    def ask(self, tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
        if self.answer is None:
            self.open.append(call)
            raise Parked
        has_begun = call in self.begun
        self.begun.append(call)
        return self.answer.model_copy(update={"has_begun": has_begun})


@dataclass
class Lived:
    """How a run went that was parked, answered, and killed at one moment."""

    state: State
    sent: list[str]
    desk: Desk
    events: list[Event]


@tool()
def search(query: str) -> str:
    """Search the web for a text."""
    return f"ran {query}"


def live(
    stage: Any, said: Sequence[str], answer: ApprovalAnswer, die_at: int | None = None
) -> Lived:
    """Play a run attempt by attempt from what is stored; its worker dies after `die_at` events."""
    sent: list[str] = []

    @tool(idempotent=False, safety=Safety.SENSITIVE)
    def send(text: str) -> str:
        """Send a message once."""
        sent.append(text)
        return f"sent {text}"

    desk, kept, seen = Desk(), list[Event](), 0
    while True:
        stored = turns_and_proposals(kept)
        kept = kept[: stored.events]
        state = State("Q?", turns=stored.turns, is_open=stored.is_open)
        tools = (search, send)
        events = stage.events(said, state, tools=tools, position=stored.calls, ask=desk.ask)
        try:
            for event in events:
                kept.append(event)
                seen += 1
                if seen == die_at:
                    break
            else:
                return Lived(state, sent, desk, kept)
        except Parked:
            desk.answer = answer
        events.close()


YES, NO = ApprovalAnswer(granted=True), ApprovalAnswer(granted=False, feedback="Not now.")


@pytest.mark.parametrize("policy", POLICIES)
def test_an_action_that_was_waited_for_runs_as_if_it_had_not_been(
    policy: str, stage: Callable[[str], Any]
) -> None:
    lived = live(stage(policy), TELL[policy], YES)

    asked_at_once = stage(policy).play(TELL[policy])
    assert (lived.state.turns, lived.state.outcome) == (
        asked_at_once.state.turns,
        asked_at_once.outcome,
    )
    assert (lived.sent, len(lived.desk.open)) == (["x"], 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_death_at_any_event_asks_anew_or_agrees_and_never_acts_twice(
    policy: str, stage: Callable[[str], Any]
) -> None:
    whole = live(stage(policy), TELL[policy], YES)

    for moment in range(1, len(whole.events) + 3):
        lived = live(stage(policy), TELL[policy], YES, die_at=moment)
        (action,) = observations(lived.state)
        assert action is not None
        assert len(lived.sent) <= 1
        if action.error is None:
            assert (lived.sent, lived.state.turns) == (["x"], whole.state.turns)
            assert lived.state.outcome == whole.state.outcome
        else:
            assert action.error == "Interrupted"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_refused_action_is_not_run_and_the_run_goes_on(
    policy: str, stage: Callable[[str], Any]
) -> None:
    lived = live(stage(policy), TELL[policy], NO)

    (action,) = observations(lived.state)
    assert action is not None
    assert (action.error, lived.sent) == ("NotApproved", [])
    assert "Not now." in action.text
    assert lived.state.outcome is not None
    assert lived.state.outcome.answer == "a"


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_runs_a_risky_tool_with_nobody_to_ask(
    policy: str, stage: Callable[[str], Any]
) -> None:
    events = stage(policy).events(TELL[policy], State("Q?"), approve=("se*",))

    assert not any(isinstance(event, ActionStarted) for event in events)


def test_a_slip_in_the_name_of_a_tool_to_ask_about_is_refused(stage: Callable[[str], Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"'sned', which is no tool.*send"):
        stage("explicit").events([], State("Q?"), approve=("sned",))


def test_an_unknown_policy_is_refused_with_what_there_is() -> None:
    parts = Parts(Model(ScriptedProvider([]), Control()), Toolkit(), Limits())

    with pytest.raises(ConfigurationError, match=r"no policy 'dance'.*explicit, implicit"):
        build(PolicySpec(policy="dance"), parts)
