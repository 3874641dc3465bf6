"""The self-repairing policy: one action as JSON, and bounded repair of what fails."""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from agents.contracts import Exchange, Reason, ReasonKind, Status, ToolCall
from agents.control import Control
from agents.errors import ConfigurationError, ToolFailed
from agents.events import (
    ActionStarted,
    AnswerDelta,
    ObservationDelta,
    RunEnded,
    ThoughtDelta,
    TurnCompleted,
)
from agents.policies import build
from agents.policies.parts import Parts
from agents.policies.self_repair import Settings
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.reasoning.model import Model
from agents.state import State
from agents.tools.spec import Safety, Tool, tool
from agents.tools.toolkit import Toolkit


@pytest.fixture
def self_repair(stage: Callable[[str], Any]) -> Any:
    return stage("self_repair")


def act(name: str | None, **inputs: Any) -> str:
    return f"so\nAction: {json.dumps({'tool': name, 'inputs': inputs, 'final_answer': False})}"


ANSWER = "enough\n<__final_answer__>ok</__final_answer__>"
BROKEN = 'so\nAction: {"tool": "add", "inputs": {"left": two}}'


def asked(call: Any) -> str:
    return str(json.loads(call.request)["messages"][-1]["content"])


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.calls]


def observations(played: Any) -> list[str]:
    return [turn.observation.text for turn in played.state.turns if turn.observation is not None]


class Unhurried(Control):
    """A control that keeps what it was asked to wait for, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    def wait(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.check()


def failing(times: int) -> tuple[Tool, list[str]]:
    """Return a tool that fails so many times and then works, and the texts it was called with."""
    seen: list[str] = []

    @tool()
    def flaky(text: str) -> str:
        """Do a thing that often fails."""
        seen.append(text)
        if len(seen) <= times:
            raise ToolFailed("boom")
        return f"did {text}"

    return flaky, seen


def test_an_action_is_carried_out_and_the_answer_ends_the_run(self_repair: Any) -> None:
    played = self_repair.play([act("search", query="q"), ANSWER])

    turn = played.state.turns[0]
    assert (turn.thought.text, turn.action) == (
        "so",
        ToolCall(tool="search", inputs={"query": "q"}),
    )
    assert turn.observation.text == "ran q"
    assert (played.outcome.status, played.outcome.answer) == (Status.SUCCEEDED, "ok")


def test_the_work_is_shown_as_the_model_wrote_it(self_repair: Any) -> None:
    played = self_repair.play([act("add", right=3, left=2), ANSWER])

    assert asked(played.calls[1]).endswith(
        '\nThought: so\nAction: {"tool": "add", "inputs": {"left": 2, "right": 3}}'
        "\nObservation: 5\nThought: "
    )


def test_requests_share_all_but_their_end(self_repair: Any) -> None:
    played = self_repair.play([act("search", query="q"), act("add", left=1), ANSWER])

    work = [asked(call).removesuffix("Thought: ") for call in played.calls]
    assert all(later.startswith(earlier) for earlier, later in pairwise(work))


def test_the_conversation_so_far_is_in_the_request(self_repair: Any) -> None:
    played = self_repair.play([ANSWER], history=[Exchange(question="before?", answer="yes")])

    said = [message["content"] for message in json.loads(played.calls[0].request)["messages"]]
    assert said[1:3] == ["before?", "yes"]


def test_unknown_inputs_are_left_out_before_the_tool_is_called(self_repair: Any) -> None:
    played = self_repair.play([act("search", query="q", zzz=1), ANSWER])

    assert played.state.turns[0].action.inputs == {"query": "q"}
    assert purposes(played) == ["think", "think"]


def test_without_pruning_unknown_inputs_are_repaired(self_repair: Any) -> None:
    script = [act("search", query="q", zzz=1), act("search", query="q"), ANSWER]

    played = self_repair.play(script, prune_inputs=False)

    assert purposes(played) == ["think", "repair", "think"]
    assert observations(played)[1] == "ran q"


@pytest.mark.parametrize(
    ("slip", "error"),
    [
        (act("ghost"), "ToolNotFound"),
        (act("add", left="two"), "InvalidInputs"),
        (act("add"), "InvalidInputs"),
        (act("broken", text="x"), "ToolFailed"),
        (BROKEN, "ParseError"),
        ('so\nAction: {"tool": "add", "inputs": [1]}', "ParseError"),
    ],
)
def test_a_slip_is_repaired_by_one_call_that_sees_the_error(
    self_repair: Any, slip: str, error: str
) -> None:
    played = self_repair.play([slip, act("add", left=1, right=1), ANSWER])

    first, second, _ = played.state.turns
    assert first.observation.error == error
    assert second.observation.text == "2"
    assert purposes(played) == ["think", "repair", "think"]
    assert first.observation.text in asked(played.calls[1])


def test_a_repair_is_cool_and_knows_question_work_tools_and_action(self_repair: Any) -> None:
    played = self_repair.play(
        [act("search", query="q"), act("ghost", x=1), act("add", left=1), ANSWER], goal="Why?"
    )

    repair = played.calls[2]
    assert all(part in asked(repair) for part in ("Why?", "ran q", '{"tool": "ghost"', "Unknown"))
    assert "- add: " in json.loads(repair.request)["messages"][0]["content"]


def test_a_long_payload_is_clamped_in_the_repair(self_repair: Any) -> None:
    long = 'so\nAction: {"tool": "add", "inputs": "' + "x" * 50_000 + '"}'

    played = self_repair.play([long, act("add", left=1), ANSWER])

    assert len(asked(played.calls[1])) < 6_000
    assert "x" * 50_000 in played.state.turns[0].thought.text


def test_a_repair_that_names_another_tool_runs_that_tool(self_repair: Any) -> None:
    played = self_repair.play([act("broken", text="x"), act("search", query="x"), ANSWER])

    assert [turn.action.tool for turn in played.state.turns[:2]] == ["broken", "search"]
    assert observations(played)[1] == "ran x"


def test_what_comes_back_is_checked_like_any_action(self_repair: Any) -> None:
    played = self_repair.play(
        [act("ghost"), act("phantom"), act("add", left="x"), act("add", left=4), ANSWER]
    )

    errors = [turn.observation.error for turn in played.state.turns[:3]]
    assert errors == ["ToolNotFound", "ToolNotFound", "InvalidInputs"]
    assert purposes(played) == ["think", "repair", "repair", "think", "think"]


def test_repairs_of_what_cannot_be_read_are_bounded(self_repair: Any) -> None:
    played = self_repair.play([BROKEN] * 6 + ["Nothing worked."], max_turns=20)

    assert purposes(played) == [*("think", "repair", "repair") * 2, "summarize"]
    assert (played.outcome.status, played.outcome.reason) == (Status.EXHAUSTED, Reason.FAILURES)
    assert (played.outcome.answer, played.outcome.partial) == ("Nothing worked.", True)


@pytest.mark.parametrize(("retries", "repairs"), [(0, 0), (1, 1), (4, 4)])
def test_the_bound_is_a_setting_of_the_version(
    self_repair: Any, retries: int, repairs: int
) -> None:
    played = self_repair.play(
        [BROKEN] * (repairs + 1) + [ANSWER], max_turns=9, max_parse_retries=retries
    )

    assert purposes(played) == ["think", *["repair"] * repairs, "think"]


def test_a_tool_that_keeps_failing_is_told_and_the_run_goes_on(self_repair: Any) -> None:
    flaky, seen = failing(times=9)
    script = [act("flaky", text=str(n)) for n in range(3)] + [ANSWER]

    played = self_repair.play(script, tools=[flaky])

    assert seen == ["0", "1", "2"]
    assert observations(played) == ["boom", "boom", "[tool:flaky] failed after retries: boom"]
    assert purposes(played) == ["think", "repair", "repair", "think"]
    assert played.outcome.answer == "ok"


def test_a_tool_that_recovers_is_only_an_observation(self_repair: Any) -> None:
    flaky, seen = failing(times=1)

    played = self_repair.play([act("flaky", text="x")] * 2 + [ANSWER], tools=[flaky])

    assert observations(played) == ["boom", "did x"]
    assert seen == ["x", "x"]


def test_what_a_failing_tool_has_printed_stays(self_repair: Any) -> None:
    played = self_repair.play([act("crashing", text="x"), ANSWER], max_tool_errors=0)

    assert observations(played)[0].startswith("half \n[tool:crashing] failed after retries: ")


def test_the_pause_before_a_retry_of_a_tool_grows_linearly(self_repair: Any) -> None:
    flaky, _ = failing(times=9)
    control = Unhurried()

    self_repair.play(
        [act("flaky", text="x")] * 3 + [ANSWER], tools=[flaky], control=control, backoff_seconds=0.8
    )

    assert control.pauses == [0.8, 1.6]


def test_what_cannot_be_read_is_repaired_at_once_and_then_after_a_pause(self_repair: Any) -> None:
    control = Unhurried()

    self_repair.play([BROKEN] * 3 + [ANSWER], control=control, backoff_seconds=0.8)

    assert control.pauses == [0.0, 0.8]


def test_a_stop_ends_the_pause_and_no_model_or_tool_is_called_any_more(self_repair: Any) -> None:
    flaky, seen = failing(times=9)
    control, events = Control(), []
    script = [act("flaky", text="x")] * 3

    state = State("Q?")
    for event in self_repair.events(
        script, state, tools=[flaky], control=control, backoff_seconds=60
    ):
        events.append(event)
        if isinstance(event, TurnCompleted):
            control.stop()

    assert state.outcome is not None
    assert state.outcome.status is Status.STOPPED
    assert seen == ["x"]


def test_without_a_model_to_repair_a_harmless_call_is_made_again(self_repair: Any) -> None:
    flaky, seen = failing(times=1)

    played = self_repair.play([act("flaky", text="x"), ANSWER], tools=[flaky], repair=False)

    assert seen == ["x", "x"]
    assert purposes(played) == ["think", "think"]
    assert played.state.turns[1].thought.text == "Try 2 of the same call."


def test_without_a_model_to_repair_nothing_that_may_do_harm_is_made_again(self_repair: Any) -> None:
    seen: list[str] = []

    @tool(idempotent=False)
    def pay(text: str) -> str:
        """Pay once."""
        seen.append(text)
        raise ToolFailed("no money")

    played = self_repair.play([act("pay", text="x"), ANSWER], tools=[pay], repair=False)

    assert seen == ["x"]
    assert purposes(played) == ["think", "think"]


def test_a_repair_that_finds_no_tool_lets_the_model_think_on(self_repair: Any) -> None:
    played = self_repair.play([act("broken", text="x"), act(None), act("add", left=1), ANSWER])

    assert purposes(played) == ["think", "repair", "think", "think"]
    assert [turn.index for turn in played.state.turns] == [0, 1, 2]
    assert "ERROR: ToolFailed: cannot x" in asked(played.calls[2])


def test_the_final_flag_of_an_action_is_only_intent(self_repair: Any) -> None:
    final = 'so\nAction: {"tool": "search", "inputs": {"query": "q"}, "final_answer": true}'

    played = self_repair.play([final, ANSWER])

    assert played.outcome.answer == "ok"
    assert len(played.state.turns) == 2


def test_a_terminal_tool_answers_and_ends_the_run(self_repair: Any) -> None:
    @tool(terminal=True)
    def report() -> Iterator[str]:
        """Write the report."""
        yield from ("a", "b", "c")

    played = self_repair.play([act("report")], tools=[report])

    assert played.outcome.answer == "abc"
    assert sum(isinstance(event, RunEnded) for event in played.events) == 1
    assert "".join(e.text for e in played.events if isinstance(e, ObservationDelta)) == "abc"


def test_prose_forces_one_final_call(self_repair: Any) -> None:
    played = self_repair.play(["Paris, I believe.", "Final Answer: It is **Paris**."])

    assert purposes(played) == ["think", "final"]
    assert played.outcome.answer == "It is **Paris**."
    assert played.state.turns[0].thought.text == "Paris, I believe."


def test_prose_is_the_answer_where_the_final_call_says_nothing(self_repair: Any) -> None:
    played = self_repair.play(["The capital of France is Paris.", ""])

    assert played.outcome.status is Status.SUCCEEDED
    assert played.outcome.answer == "The capital of France is Paris."


def test_what_is_thought_in_the_final_call_is_no_answer(self_repair: Any) -> None:
    played = self_repair.play(
        [
            "Paris.",
            {"say": "<think>hm</think><__final_answer__>Paris</__final_answer__>", "chunk": 3},
        ]
    )

    assert played.outcome.answer == "Paris"


def test_an_empty_reply_is_no_answer(self_repair: Any) -> None:
    played = self_repair.play(["", "", act("search", query="q"), ANSWER])

    assert played.state.turns[0].observation.text == "The reply was empty."
    assert purposes(played) == ["think", "final", "repair", "think"]


def test_a_model_that_gives_up_at_once_is_nudged_once(self_repair: Any) -> None:
    refusal = "I'm sorry, I don't have access to the web."

    played = self_repair.play([refusal, refusal, "I cannot."])

    assert purposes(played) == ["think", "think", "final"]
    assert observations(played)[0].startswith("You have tools for this.")
    assert played.state.turns[0].observation.error is None
    assert played.outcome.answer == "I cannot."


@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_no_part_of_a_marker_is_shown(self_repair: Any, chunk: int) -> None:
    said = "x < y\n<__final_answer__>a <b> c</__final_answer__> bye"

    played = self_repair.play([{"say": said, "chunk": chunk}])

    shown = "".join(e.text for e in played.events if isinstance(e, AnswerDelta))
    thought = "".join(e.text for e in played.events if isinstance(e, ThoughtDelta))
    assert (thought, shown, played.outcome.answer) == ("x < y", "a <b> c", "a <b> c")


def test_a_version_can_ask_for_a_label_in_place_of_markers(self_repair: Any) -> None:
    played = self_repair.play(["x\nFinal Answer: ok"], has_markers=False)

    rules = json.loads(played.calls[0].request)["messages"][0]["content"]
    assert ("__final_answer__" in rules, "Final Answer:" in rules) == (False, True)
    assert played.outcome.answer == "ok"


def test_tools_can_be_swapped_while_the_run_goes_on(self_repair: Any) -> None:
    @tool()
    def old() -> str:
        """Do it the old way."""
        return "old"

    @tool()
    def new() -> str:
        """Do it the new way."""
        return "new"

    kit, state, events = Toolkit([old]), State("Q?"), []
    for event in self_repair.events([act("old"), act("new"), ANSWER], state, tools=kit):
        events.append(event)
        if isinstance(event, TurnCompleted):
            kit.replace([new])

    assert [turn.observation.text for turn in state.turns[:2] if turn.observation] == ["old", "new"]


def test_a_risky_tool_does_not_run_with_nobody_to_ask(self_repair: Any) -> None:
    @tool(safety=Safety.DANGEROUS)
    def remove(path: str) -> str:
        """Remove a file."""
        return "gone"

    played = self_repair.play([act("remove", path="a"), ANSWER], tools=[remove])

    assert played.state.turns[0].observation.error == "NotApproved"
    assert not any(isinstance(event, ActionStarted) for event in played.events)
    assert purposes(played) == ["think", "think"]


def test_the_settings_of_the_version_reach_the_calls(self_repair: Any) -> None:
    class Recording(ScriptedProvider):
        def body(self, request: Any) -> str:
            limits.append((request.purpose, request.temperature, request.max_tokens))
            return super().body(request)

    limits: list[tuple[str, float | None, int | None]] = []
    provider = Recording([{"say": text} for text in (BROKEN, act(None), "Paris.", "Paris")])

    self_repair.play(provider=provider, repair_tokens=99)

    assert limits == [
        ("think", 0.7, 8_000),
        ("repair", 0.2, 99),
        ("think", 0.7, 8_000),
        ("final", pytest.approx(0.4), 8_000),
    ]


@pytest.mark.parametrize(
    "settings", [{"max_parse_retries": -1}, {"backof": 1}, {"temperature": "hot"}]
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    parts = Parts(Model(ScriptedProvider([]), Control()), Toolkit(), Limits())

    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        build(PolicySpec(policy="self_repair", settings=settings), parts)


def test_the_defaults_are_those_of_the_source() -> None:
    settings = Settings()

    assert (settings.max_parse_retries, settings.max_tool_errors) == (2, 2)
    assert (settings.temperature, settings.max_tokens, settings.backoff_seconds) == (
        0.7,
        8_000,
        0.8,
    )


def test_a_model_that_never_obeys_is_ended(self_repair: Any) -> None:
    script = [f"{BROKEN} {n}" for n in range(6)] + ["I could not do it."]

    played = self_repair.play(script, max_turns=20)

    assert played.outcome.reason is Reason.FAILURES
    assert [turn.thought.kind for turn in played.state.turns] == [ReasonKind.THOUGHT] * 6
