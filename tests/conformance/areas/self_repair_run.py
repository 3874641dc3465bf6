"""Runs of the policy `self_repair`: repair, retries, extras, terminal tools, approval, stop."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, create_model

from agents.act.approval import Approval, Approved
from agents.act.by_name import ByName
from agents.contracts import ModelCall, Outcome, ReasonKind, ReasonNode, Status, ToolCall, Turn
from agents.control import Control
from agents.errors import ToolFailed
from agents.events import AnswerDelta, Event, ModelCalled, ObservationDelta, Observed
from agents.loop import run
from agents.policies import build
from agents.policies.parts import Parts
from agents.policies.self_repair import Settings
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.reasoning.model import Model
from agents.state import State
from agents.tools.extras import Extras, Handed
from agents.tools.spec import Safety, Tool, tool
from agents.tools.toolkit import Toolkit

Case = dict[str, Any]

ANSWER = "so\n<__final_answer__>done</__final_answer__>"
UNREADABLE = 'so\nAction: {"tool": [1], "inputs": {}}'
REPAIRED_INSTEAD = (
    "with pruning off, an input that the tool does not know is refused and repaired; upstream "
    "passed it on to the tool"
)


class Patient(Control):
    """A control that keeps what it was asked to wait for, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    def wait(self, seconds: float) -> None:
        """Keep the pause."""
        self.pauses.append(seconds)
        self.check()


@dataclass
class Played:
    """A run that was played to its end."""

    state: State
    control: Patient
    events: list[Event] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        assert self.state.outcome is not None, "the run has no end"
        return self.state.outcome

    @property
    def calls(self) -> list[ModelCall]:
        return [event.call for event in self.events if isinstance(event, ModelCalled)]

    @property
    def repairs(self) -> int:
        """Return the repairs before the model thinks again."""
        purposes = [call.purpose for call in self.calls][1:]
        return len(purposes) if "think" not in purposes else purposes.index("think")

    @property
    def observations(self) -> list[str]:
        return [turn.observation.text for turn in self.state.turns if turn.observation]


def play(
    script: Sequence[str],
    tools: Sequence[Tool] = (),
    *,
    max_turns: int = 20,
    watch: Callable[[Event, Control], None] = lambda event, control: None,
    **settings: Any,
) -> Played:
    """Play a run of scripted replies; a call beyond them is answered with nothing."""
    said = [{"say": reply} for reply in [*script, *[""] * 4]]
    control = Patient()
    played = Played(State("Q?"), control)
    parts = Parts(
        Model(ScriptedProvider(said), control), Toolkit(tools), Limits(max_turns=max_turns)
    )
    policy = build(PolicySpec(policy="self_repair", settings=settings), parts)
    for event in run(policy, played.state, control):
        played.events.append(event)
        watch(event, control)
    return played


def act(name: str, inputs: dict[str, Any] | None = None, *, is_final: bool = False) -> str:
    action = {"tool": name, "inputs": inputs or {}, "final_answer": is_final}
    return f"so\nAction: {json.dumps(action)}"


def check_pruning(case: Case) -> str | None:
    """Call a tool with more inputs than it knows."""
    asked, expected = case["input"], case["expected"]
    seen: list[dict[str, Any]] = []

    def take(**inputs: Any) -> str:
        seen.append(inputs)
        return "ok"

    fields: dict[str, Any] = dict.fromkeys(asked["spec_keys"], (Any, ...))
    inputs = create_model("take", __config__=ConfigDict(extra="forbid"), **fields)
    taker = Tool(name="take", description="Take inputs.", inputs=inputs, run=take)
    known = {name: asked["inputs"].get(name, 1) for name in asked["spec_keys"]}
    prunes = asked["allow_input_pruning"]
    played = play(
        [act("take", asked["inputs"]), *([] if prunes else [act("take", known)]), ANSWER],
        [taker],
        prune_inputs=prunes,
    )
    was_repaired = any(call.purpose == "repair" for call in played.calls)
    if not prunes and not expected.get("llm_repair_called", True):
        assert was_repaired
        return REPAIRED_INSTEAD
    assert was_repaired == expected.get("llm_repair_called", was_repaired), played.calls
    if "executed_inputs" in expected and prunes:
        assert seen == [expected["executed_inputs"]], seen
    return None


def check_parse_retries(case: Case) -> str | None:
    """Count the repairs of one step that stays unreadable."""
    retries, wanted = case["input"]["max_parse_retries"], case["expected"]["repair_attempts"]
    script = [UNREADABLE] * (retries + 1) + [ANSWER]
    played = play(script, max_parse_retries=retries, backoff_seconds=0)
    assert played.repairs == wanted, f"{played.repairs} repairs, expected {wanted}"
    assert played.outcome.answer == "done"
    return None


def check_backoff(case: Case) -> str | None:
    """Gather the pauses before the retries of a tool that fails."""
    asked, wanted = case["input"], case["expected"]["sleeps_linear"]
    retries = asked["retries"]
    played = play(
        [act("fail")] * (retries + 1) + [ANSWER],
        [failing(retries + 1)],
        backoff_seconds=asked["backoff_sec"],
        max_tool_errors=retries,
    )
    pauses = [round(seconds, 6) for seconds in played.control.pauses]
    assert pauses == [round(seconds, 6) for seconds in wanted], pauses
    return None


def check_tool_errors(case: Case) -> str | None:
    """Run a tool that fails as often as the case says."""
    asked, expected = case["input"], case["expected"]
    allowed, said = asked["max_tool_errors"], str(asked["tool"])
    counted = {"once": 1, "twice": 2}
    times = next((n for word, n in counted.items() if word in said), allowed + 1)
    fail = failing(times)
    script = [act("fail")] * (allowed + 1) + [ANSWER]
    played = play(script, [fail], max_tool_errors=allowed, backoff_seconds=0)
    tries = [turn for turn in played.state.turns if turn.action is not None]
    if times > allowed:
        assert len(tries) == expected.get("executions", len(tries)), len(tries)
        wanted = str(expected.get("observation", "")).replace("<name>", "fail")
        assert played.observations[allowed] == (wanted or played.observations[allowed])
    assert played.outcome.answer == "done", "a failed tool must not end the run"
    return None


def check_extras(case: Case) -> str | None:
    """Hand a rich object to the next call that succeeds, and see it nowhere else."""
    expected, asked = case["expected"], case["input"]
    extras = dict(asked["extras"]) if isinstance(asked, dict) and "extras" in asked else {"k": 1}
    given = dict(asked.get("action_inputs", {})) if isinstance(asked, dict) else {}
    rich = object()
    seen: list[dict[str, Any]] = []
    fails = "raises" in str(asked)

    @tool()
    def hand() -> Handed:
        """Hand something on."""
        return Handed("handed", {**extras, "rich": rich})

    def take(extras: Extras, **inputs: Any) -> str:
        seen.append({**extras, **inputs})
        if fails and len(seen) == 1:
            raise ToolFailed("boom")
        return "taken"

    fields: dict[str, Any] = dict.fromkeys({**extras, **given}, (Any, None))
    inputs = create_model("take", __config__=ConfigDict(extra="forbid"), **fields)
    taker = Tool(name="take", description="Take.", inputs=inputs, run=take, wants_extras=True)
    script = [act("hand"), *[act("take", given)] * (3 if fails else 2), ANSWER]
    played = play(script, [hand, taker], backoff_seconds=0)

    *with_extras, after = seen
    assert all(call["rich"] is rich for call in with_extras), seen
    assert "rich" not in after, "extras must reach only one successful call"
    for name, value in expected.get("tool_receives", {}).items():
        assert with_extras[0][name] == value, with_extras
    assert len(with_extras) == (2 if fails else 1), seen
    told = "".join(event.model_dump_json() for event in played.events)
    assert "object object" not in told, "extras must be in no event and no prompt"
    return None


def check_terminal(case: Case) -> str | None:
    """Let a tool give the final answer; a front end writes the markers where it wants them."""
    asked, expected = case["input"], case["expected"]
    played = play([act("tell"), ANSWER], [teller(asked["results"], asked["final_answer"])])
    text = "".join(event.text for event in played.events if isinstance(event, ObservationDelta))
    ends = len(played.state.turns) == 1
    assert ends == expected.get("loop_ends", asked["final_answer"]), played.state.turns
    if ends:
        assert played.outcome.answer == text, played.outcome
        if not asked.get("skip_special_tokens", True):
            text = f"<__final_answer__>{text}</__final_answer__>"
    assert text == expected.get("streamed", text), text
    return None


def check_intent(case: Case) -> str | None:
    """Let only the tool say that its result is final, whatever the action says."""
    asked = case["input"]
    script = [act("tell", is_final=asked["action.final_answer"]), ANSWER]
    played = play(script, [teller("42", asked["tool.final_answer"])])
    ends = len(played.state.turns) == 1
    assert ends == case["expected"]["loop_ends"], played.state.turns
    return None


def check_stop(case: Case) -> str | None:
    """Ask for a stop in the middle: no model and no tool is called after it."""
    called: list[str] = []

    @tool()
    def note() -> str:
        """Note the call."""
        called.append("note")
        return "noted"

    def stop(event: Event, control: Control) -> None:
        if isinstance(event, Observed):
            control.stop()

    played = play([act("note"), act("note"), ANSWER], [note], watch=stop)
    assert (called, len(played.calls)) == (["note"], 1), (called, played.calls)
    assert played.outcome.status is Status.STOPPED
    return None


def check_approval(case: Case) -> str | None:
    """Refuse or allow a dangerous tool; the words of a refusal reach the model."""
    asked, expected = case["input"], case["expected"]

    @tool(safety=Safety.DANGEROUS)
    def shell(command: str) -> str:
        """Run a command."""
        return f"ran {command}"

    def say(_: Tool, __: ToolCall) -> Approval:
        return Approval(granted=asked["approve"], feedback=asked.get("feedback", ""))

    kit = Toolkit([shell])
    call = ToolCall(tool="shell", inputs={"command": "rm"})
    node = ReasonNode(kind=ReasonKind.ACTION, text="", call=call)
    act = Approved(ByName(kit, Control()), kit, say)
    events = list(act(State("Q?", turns=[Turn(index=0, thought=node)])))
    (seen,) = [event.observation for event in events if isinstance(event, Observed)]
    is_error = expected.get("tool_result_is_error", not asked["approve"])
    assert (seen.error is not None) == is_error, seen
    assert str(expected.get("content_contains", "")) in seen.text, seen
    return None


def check_loop(case: Case) -> str | None:
    """Play replies of the text format to their end."""
    asked, expected = case["input"], case["expected"]
    ran: list[str] = []

    @tool()
    def read_file(path: str) -> str:
        """Read a file."""
        ran.append("read_file")
        return "hello source."

    always = isinstance(asked, dict)
    turns = asked.get("max_turns", 20) if isinstance(asked, dict) else 20
    script = asked if isinstance(asked, list) else _actions(turns)
    played = play(script, [read_file], max_turns=turns, backoff_seconds=0)
    outcome = played.outcome
    status = {Status.SUCCEEDED: "completed", Status.EXHAUSTED: "max_turns"}.get(outcome.status)
    assert status == expected["status"], outcome
    assert ran == expected.get("tools_run", ran), ran
    for name in ("answer_text_contains", "report_contains"):
        assert str(expected.get(name, "")) in outcome.answer, outcome
    left_out = expected.get("answer_text_excludes")
    assert left_out is None or left_out not in outcome.answer, outcome
    assert len(played.state.turns) == expected.get("turns", len(played.state.turns))
    assert outcome.answer, "the report must not be empty"
    assert outcome.partial == always, outcome
    shown = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    assert shown == outcome.answer, "what is shown must be the answer"
    return None


def check_defaults(case: Case) -> str | None:
    """Compare the settings of a version that sets nothing."""
    expected, settings = case["expected"], Settings()
    found = {
        "temperature": settings.temperature,
        "max_new_tokens": settings.max_tokens,
        "verbose": True,  # events always tell every step
        "allow_input_pruning": settings.prune_inputs,
        "repair_with_llm": settings.repair,
        "skip_special_tokens": not settings.has_markers,
        "retry": {
            "max_parse_retries": settings.max_parse_retries,
            "max_tool_errors": settings.max_tool_errors,
            "backoff_sec": settings.backoff_seconds,
        },
    }
    assert found == expected, f"{found}, expected {expected}"
    return None


def failing(times: int) -> Tool:
    """Return a tool that says boom so many times, and then works."""
    tries: list[int] = []

    @tool()
    def fail() -> str:
        """Fail."""
        tries.append(1)
        if len(tries) <= times:
            raise ToolFailed("boom")
        return "worked"

    return fail


def teller(results: str | list[str], is_final: bool) -> Tool:
    """Return a tool that says these results, as one text or piece by piece."""

    @tool(terminal=is_final)
    def tell() -> Iterator[str]:
        """Tell the results."""
        yield from [results] if isinstance(results, str) else results

    return tell


def _actions(turns: int) -> list[str]:
    paths = [json.dumps({"path": f"{number}.txt"}) for number in range(turns)]
    actions = [f"Thought: on\nAction: read_file\nAction Input: {path}" for path in paths]
    return [*actions, "The files say hello, as far as they were read."]


AREAS = {
    "input pruning": check_pruning,
    "max_parse_retries": check_parse_retries,
    "backoff": check_backoff,
    "tool errors": check_tool_errors,
    "extras memory": check_extras,
    "ToolResponse.final_answer": check_terminal,
    "Action.final_answer vs ToolResponse.final_answer": check_intent,
    "stop_generation": check_stop,
    "v1 approval": check_approval,
    "v1 loop": check_loop,
    "ReActConfig defaults": check_defaults,
}
