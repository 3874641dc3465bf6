"""The implicit reasoner: its loop, with the turns, decisions and transcript of a run.

The source writes a thought and what came of it as two turns; ours is one, and is parted here.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from agents.contracts import Status, Turn
from agents.control import Control
from agents.errors import ToolFailed
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.base import (
    Finish,
    IsShown,
    ModelRequest,
    Provider,
    Reply,
    Token,
    encoded,
    not_shown,
)
from agents.state import State, observed
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit
from tests.conformance.differences import difference, outcome_of

Case = dict[str, Any]

_CHOICES = "llm_text_replies_in_order(tool selection)"
_ERRORS = {"ToolExecutionError": ToolFailed, "ToolFailed": ToolFailed}

PARTIAL_ANSWER = (
    "out of turns, one more call without tools gives the best partial answer, marked as such, in "
    "place of a fixed sentence"
)
OTHER_WORDS = (
    "an error keeps our own name for its kind, and the message of an unknown exception, which may "
    "hold paths or secrets, goes to the log and not to the model; the call that failed is kept"
)
JOINED_TURNS = (
    "a thought and its action are one turn of the limit here, so a run with actions goes further"
)


def check_loop(case: Case) -> str | None:
    """Play the replies by purpose, and compare turns, decisions, transcript and result."""
    asked, expected = case["input"], case["expected"]
    provider = _Replies(asked)
    executed: list[list[Any]] = []
    kit = Toolkit(_tool(described, asked, executed) for described in asked["tools"])
    state = State(asked["goal"])
    model = Model(provider, Control())
    # The source counts a thought and its action as two; a run without an end has ours as well.
    thoughts = expected["decisions"].count("REASON")
    limits = Limits(max_turns=asked["max_turns"] if expected["success"] else max(1, thoughts))
    policy = build(PolicySpec(policy="implicit"), Parts(model, kit, limits))
    for _ in run(policy, state, model.control):
        pass
    outcome = outcome_of(state)
    assert (outcome.status is Status.SUCCEEDED) == expected["success"], f"ended as {outcome}"
    if outcome.status is not Status.SUCCEEDED:
        assert outcome.partial, "an answer without an end must be marked as partial"
        if len(state.turns) < asked["max_turns"] and state.turns[-1].is_observed:
            return JOINED_TURNS
    reason = _differs(state, expected)
    assert executed == expected["executed"], difference(executed, expected["executed"])
    if outcome.status is not Status.SUCCEEDED:
        return PARTIAL_ANSWER
    assert outcome.answer == expected["final_answer"], f"answered {outcome.answer!r}"
    return reason


AREAS: dict[str, Callable[[Case], str | None]] = {
    "implicit loop / Turn records / transcript": check_loop,
}


class _Replies(Provider):
    """Answer by purpose: the choice of a tool with a text, everything else with the next JSON."""

    name = "scripted"
    model = "scripted"

    def __init__(self, asked: Case) -> None:
        self._json = deque(asked["llm_json_replies_in_order"])
        self._texts = deque(asked.get(_CHOICES, ()))

    def body(self, request: ModelRequest) -> str:
        return encoded({"purpose": request.purpose})

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        control.check()
        purpose = json.loads(body)["purpose"]
        if purpose == "summarize":
            reply: Any = ""
        elif purpose == "choose_tool":
            reply = self._texts.popleft() if self._texts else "none"
        elif purpose == "fill_inputs" and not self._json:
            reply = {}
        else:
            assert self._json, f"there is no reply for another call to {purpose}"
            reply = self._json.popleft()
        yield Token(text=reply if isinstance(reply, str) else json.dumps(reply))
        yield Finish(stop_reason="stop")


def _tool(described: Case, asked: Case, executed: list[list[Any]]) -> Tool:
    name = str(described["id"])

    def play(**inputs: Any) -> str:
        executed.append([name, inputs])
        kind, _, message = str(asked.get("tool_failure", "")).partition(" ")
        if kind:
            raise _ERRORS.get(kind, RuntimeError)(message)
        result = asked.get("tool_result", "")
        return result if isinstance(result, str) else json.dumps(result)

    schema = {
        "type": "object",
        "properties": described.get("parameters", {}),
        "required": list(described.get("required", ())),
    }
    return Tool(name, f"Do what {name} does.", JsonInputs(schema), play)


def _differs(state: State, expected: Case) -> str | None:
    """Compare the parted turns; return the reason where only the words of an error differ."""
    reason = None
    parted = [part for turn in state.turns for part in _parts(turn)]
    wanted = expected["turns"]
    assert len(parted) == len(wanted) == expected["iterations"], f"{len(parted)} turns: {parted}"
    transcript = expected["transcript"]
    for part, other in zip(parted, wanted, strict=True):
        if _are_errors(part, other):
            reason = reason if part == other else OTHER_WORDS
            transcript = transcript.replace(_line(other), _line(part), 1)
        else:
            assert part == other, difference(part, other)
    decisions = [part["step"] for turn in state.turns for part in _steps(turn)]
    assert decisions == expected["decisions"], difference(decisions, expected["decisions"])
    assert state.transcript() == transcript, difference(state.transcript(), transcript)
    return reason


def _parts(turn: Turn) -> Iterator[Case]:
    if turn.thought is not None:
        said = turn.thought.answer or turn.thought.text
        thought = {"kind": turn.thought.kind.name, "text": said}
        yield {"thought": thought, "action": None, "observation": None}
    for done in turn.actions:
        if done.observation is not None:
            call = done.call
            action = None if call is None else {"tool_id": call.tool, "params": call.inputs}
            yield {"thought": None, "action": action, "observation": observed(done.observation)}


def _steps(turn: Turn) -> Iterator[Case]:
    for part in _parts(turn):
        yield {"step": "TOOL" if part["thought"] is None else "REASON"}


def _are_errors(part: Case, other: Case) -> bool:
    both = (part["observation"] or "", other["observation"] or "")
    is_named = other["action"] in (None, part["action"])
    return is_named and all(text.startswith("ERROR: ") for text in both)


def _line(part: Case) -> str:
    """Write a part of a turn as the transcript has it; the source leaves out a failed call."""
    action = part["action"]
    executed = f"ACTION_EXECUTED: tool_id={action['tool_id']}\n" if action else ""
    return f"{executed}OBSERVATION: {part['observation']}"
