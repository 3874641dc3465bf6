"""The implicit reasoner: its loop, decisions, summaries and previews of values.

The source writes a thought and what came of it as two turns; ours is one, and is parted here.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from agents.contracts import (
    Action,
    EndReason,
    Observation,
    Outcome,
    Status,
    Thought,
    ThoughtKind,
    ToolCall,
    Turn,
)
from agents.control import Control
from agents.decide import react
from agents.errors import ToolFailed
from agents.events import ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.policy import Step
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
from agents.providers.scripted import ScriptedProvider
from agents.state import State, observed
from agents.summarize import FinalAnswer
from agents.terminal.preview import preview
from agents.think.clarify import settled_goal
from agents.tools.json_inputs import JsonInputs
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit

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
    outcome = _outcome(state)
    assert (outcome.status is Status.SUCCEEDED) == expected["success"], f"ended as {outcome}"
    if outcome.status is not Status.SUCCEEDED:
        assert outcome.partial, "an answer without an end must be marked as partial"
        if len(state.turns) < asked["max_turns"] and state.turns[-1].is_observed:
            return JOINED_TURNS
    reason = _differs(state, expected)
    assert executed == expected["executed"], _difference(executed, expected["executed"])
    if outcome.status is not Status.SUCCEEDED:
        return PARTIAL_ANSWER
    assert outcome.answer == expected["final_answer"], f"answered {outcome.answer!r}"
    return reason


def check_decision(case: Case) -> str | None:
    """Decide after the latest turn that the case names."""
    step = react(State("g", turns=_turns(case["input"]))).step
    decided = "REASON" if step is Step.THINK else step.name
    assert decided == case["expected"], _difference(decided, case["expected"])
    return None


def check_summary(case: Case) -> str | None:
    """Sum up a run with or without an answer."""
    asked, expected = case["input"], case["expected"]
    answer = asked.get("final_answer") or ""
    kind = ThoughtKind.FINAL if answer else ThoughtKind.THOUGHT
    node = Thought(kind=kind, text="t", answer=answer)
    state = State("g", turns=[Turn(index=0, thought=node)], halted=EndReason.TURNS)
    has_failed = any("error" in key or "raise" in key for key in asked)
    said = {"fail": "busy"} if has_failed else {"say": asked.get("llm_reply") or ""}
    model = Model(ScriptedProvider([said]), Control())
    called = False
    for event in FinalAnswer(model, 1)(state):
        state.apply(event)
        called = called or isinstance(event, ModelCalled)
    outcome = _outcome(state)
    answer = outcome.answer.strip()
    assert answer == expected["result"].strip(), _difference(answer, expected["result"])
    assert called == expected.get("llm_called", called), f"called the model: {called}"
    return None


def check_goal(case: Case) -> str | None:
    """Settle the goal of a run that goes on with it, or ends with a question back."""
    asked, expected = case["input"], case["expected"]
    said = asked.get("llm_json", asked.get("llm_reply", ""))
    reply = said if isinstance(said, str) else json.dumps(said)
    script = [{"say": reply}, {"say": "Final Answer: done"}]
    model = Model(ScriptedProvider(script), Control())
    state = State(asked["goal"])
    spec = PolicySpec(policy="explicit", settings={"settle_goal": True})
    calls = [
        event.call
        for event in run(build(spec, Parts(model, Toolkit(), Limits())), state, model.control)
        if isinstance(event, ModelCalled)
    ]
    outcome = _outcome(state)
    question = outcome.answer if outcome.reason is EndReason.ASKED else None
    wanted = expected.get("question")
    assert question == (wanted and wanted.strip()), _difference(question, wanted)
    goal = settled_goal(state.turns[0]) or ""
    assert goal.strip() == expected["goal"].strip(), _difference(goal, expected["goal"])
    if question is None:
        assert goal in json.loads(calls[-1].request)["messages"][-1]["content"]
    else:
        assert len(calls) == 1, "the run went on after its question"
    return None


def check_preview(case: Case) -> str | None:
    """Preview the value, or one made of the numbers that describe it."""
    asked, expected = case["input"], case["expected"]
    keys = set(asked) if isinstance(asked, dict) else set()
    if "chars" in keys and "len" in expected:
        text = preview("x" * asked["chars"], **{key: asked[key] for key in keys - {"chars"}})
        assert len(text) == expected["len"], f"{len(text)} characters"
        assert text.endswith(expected.get("endswith", "")), f"ends with {text[-5:]!r}"
    elif keys == {"items"} and isinstance(asked["items"], int):
        items = preview(list(range(asked["items"])))
        assert len(items) == expected["len"], f"{len(items)} items"
        assert items[-1] == expected.get("last", items[-1]), f"ends with {items[-1]!r}"
    elif keys == {"keys"}:
        shown = preview({f"key{n}": n for n in range(asked["keys"])})
        more = shown.pop("...", "")
        assert len(shown) == expected["kept"], f"{len(shown)} keys"
        assert str(more) in expected.get("marker", ""), f"the marker says {more!r}"
    elif isinstance(expected, dict) and set(expected) == {"all"}:
        assert set(preview(asked).values()) == {expected["all"]}, str(preview(asked))
    else:
        assert preview(asked) == expected, _difference(preview(asked), expected)
    return None


AREAS: dict[str, Callable[[Case], str | None]] = {
    "implicit loop / Turn records / transcript": check_loop,
    "DecidePolicy": check_decision,
    "Summarizer": check_summary,
    "goal preprocessor": check_goal,
    "trace value preview / secret redaction": check_preview,
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
            assert part == other, _difference(part, other)
    decisions = [part["step"] for turn in state.turns for part in _steps(turn)]
    assert decisions == expected["decisions"], _difference(decisions, expected["decisions"])
    assert state.transcript() == transcript, _difference(state.transcript(), transcript)
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


def _turns(described: object) -> list[Turn]:
    """Return the turns that the words of a case describe."""
    words = json.dumps(described).upper()
    if "NO TURN" in words or words in ("[]", "NULL", '""'):
        return []
    call = ToolCall(tool="t", inputs={})
    if "OBSERV" in words or "TOOL" in words:
        node = Thought(kind=ThoughtKind.ACTION, text="do", calls=(call,))
        action = Action(call=call, observation=Observation(text="OK"))
        return [Turn(index=0, thought=node, actions=(action,))]
    kinds = [kind for kind in ThoughtKind if kind.name in words]
    assert kinds, f"what {described!r} means is not known"
    node = Thought(kind=kinds[-1], text="do", answer="a" if "FINAL" in words else "")
    return [Turn(index=0, thought=node)]


def _outcome(state: State) -> Outcome:
    assert state.outcome is not None, "the run has no end"
    return state.outcome


def _difference(found: object, expected: object) -> str:
    return f"{found!r}, expected {expected!r}"
