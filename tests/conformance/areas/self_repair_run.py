"""Runs of the policy `self_repair`: terminal tools, approval, stop, the text format, defaults."""

import json
from collections.abc import Iterator

from agents.act.approval import ApprovalAnswer, ApprovedAct
from agents.act.named_tool import NamedToolAct
from agents.contracts import Status, Thought, ThoughtKind, ToolCall, Turn
from agents.control import Control
from agents.events import AnswerDelta, Event, ObservationDelta, Observed
from agents.policies.self_repair import Settings
from agents.state import State
from agents.tools.spec import Safety, Tool, tool
from agents.tools.toolkit import Toolkit
from tests.conformance.repair_stage import ANSWER, Case, act, play

NAMED_BY_AN_EQUALS_SIGN = "inputs written as `name = value` say what is meant, and the tool runs"


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

    def say(_: Tool, __: ToolCall, why: str) -> ApprovalAnswer:
        return ApprovalAnswer(granted=asked["approve"], feedback=asked.get("feedback", ""))

    kit = Toolkit([shell])
    call = ToolCall(tool="shell", inputs={"command": "rm"})
    node = Thought(kind=ThoughtKind.ACTION, text="", calls=(call,))
    act = ApprovedAct(NamedToolAct(kit, Control()), kit, say)
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
    is_read = not expected.get("tools_run", ran) and ran == ["read_file"]
    assert ran == expected.get("tools_run", ran) or is_read, ran
    for name in ("answer_text_contains", "report_contains"):
        assert str(expected.get(name, "")) in outcome.answer, outcome
    left_out = expected.get("answer_text_excludes")
    assert left_out is None or left_out not in outcome.answer, outcome
    assert len(played.state.turns) == expected.get("turns", len(played.state.turns))
    assert outcome.answer, "the report must not be empty"
    assert outcome.partial == always, outcome
    shown = "".join(event.text for event in played.events if isinstance(event, AnswerDelta))
    assert shown == outcome.answer, "what is shown must be the answer"
    return NAMED_BY_AN_EQUALS_SIGN if is_read else None


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
    "ToolResponse.final_answer": check_terminal,
    "Action.final_answer vs ToolResponse.final_answer": check_intent,
    "stop_generation": check_stop,
    "v1 approval": check_approval,
    "v1 loop": check_loop,
    "ReActConfig defaults": check_defaults,
}
