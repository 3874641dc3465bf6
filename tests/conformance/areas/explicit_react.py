"""The text format's parser, tools, loop and scratchpad, as the policy `explicit` has them."""

from collections.abc import Callable, Mapping
from typing import Any

from agents.contracts import (
    Action,
    EndReason,
    Observation,
    Status,
    Thought,
    ThoughtKind,
    ToolCall,
    Turn,
)
from agents.control import Control
from agents.errors import ParseError
from agents.events import ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.prompting.prompts import enclosed_observation
from agents.prompting.scratchpad import input_text, scratchpad
from agents.providers.scripted import ScriptedProvider
from agents.reading.markup.complaint import text_complaint
from agents.reading.text_reply import ReplyReader
from agents.state import State, observed
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit

Case = dict[str, Any]

_TOOLS = ("web_search", "python_repl", "wikipedia", "arxiv")
_UNREADABLE = "Could not parse LLM output"
_BROKE, _UNKNOWN = "Error executing tool: ", "Unknown tool: "

HIDDEN_ERROR = (
    "the message of an unknown exception may hold paths or secrets, so the model is told the kind "
    "of failure and the log has the message"
)
OTHER_WORDS = "the tools that there are follow as plain names, not as a Python list"
PARTIAL_ANSWER = (
    "out of iterations, one more call without tools gives the best partial answer, marked as such, "
    "in place of a fixed sentence"
)
UNLABELLED_THOUGHT = "what stands before the first label is kept as the thought"
SET_APART = "an observation stands between marks, so that a page in it cannot pass for a step"
TOLD_WHAT_WAS_WRONG = (
    "the model is shown its reply, what was wrong with it and the form that is wanted, in place of "
    "a sentence that only says to try again"
)
UNLABELLED_ANSWER = "the second reply in a row without any label is taken as the answer"
REPEATED = "the same action three times in a row ends the run early, for it goes in a circle"


def check_parser(case: Case) -> str | None:
    """Read the reply whole and character by character: both say what is expected."""
    text, expected = case["input"], case["expected"]
    found = _parsed([text])
    by_letter = _parsed(list(text))
    assert found == by_letter, f"in one piece {found}, letter by letter {by_letter}"
    if case["class"] == "reject":
        kind = found["type"]
        assert kind == "error" or all(said in text for said in found.values() if said != kind)
        return None
    is_unlabelled = not expected["thought"] and found["thought"] and found["thought"] in text
    if is_unlabelled and found | {"thought": ""} == expected:
        return UNLABELLED_THOUGHT
    assert found == expected, _difference(found, expected)
    return None


def check_tool(case: Case) -> str | None:
    """Call a tool by a name as a model writes it."""
    asked, expected = case["input"], str(case["expected"])
    raises = expected.removeprefix(_BROKE) if expected.startswith(_BROKE) else ""
    kit = _toolkit("", raises)
    name, text = str(asked["tool"]), str(asked["input"])
    seen = _called(kit, ToolCall(tool=name, inputs={"text": text}))
    return _observation_differs(seen, expected, kit)


def check_loop(case: Case) -> str | None:
    """Play the replies: the same steps, and the same answer unless the run had no end."""
    asked, expected = case["input"], case["expected"]
    kit = _toolkit(str(asked.get("tool_result", "")), "")
    script = [{"say": reply} for reply in asked["llm_replies_in_order"]]
    provider = ScriptedProvider([*script, {"say": "the best I have"}])
    parts = Parts(Model(provider, Control()), kit, Limits(max_turns=asked.get("max_iterations", 5)))
    state = State(asked["query"])
    events = run(build(PolicySpec(policy="explicit"), parts), state, Control())
    calls = [event.call for event in events if isinstance(event, ModelCalled)]
    outcome = state.outcome
    assert outcome is not None, "the run has no end"
    steps = expected["steps"]
    replies = asked["llm_replies_in_order"]
    if len(state.turns) < len(steps) and state.turns[-1].index == 1:
        assert [step["type"] for step in steps[:2]] == ["error", "error"], steps
        assert outcome.answer == replies[1].strip(), _difference(outcome.answer, replies[1])
        return UNLABELLED_ANSWER
    if outcome.reason is EndReason.REPEATS:
        steps = steps[: len(state.turns)]
    reasons = [_step_differs(turn, step, kit) for turn, step in _paired(state, steps)]
    thoughts = [call for call in calls if call.purpose == "think"]
    if outcome.reason is EndReason.REPEATS:
        assert outcome.partial, "an answer without an end must be marked as partial"
        return REPEATED
    assert len(thoughts) == expected["llm_calls"], f"{len(thoughts)} calls to think"
    if outcome.status is Status.EXHAUSTED:
        assert outcome.partial, "an answer without an end must be marked as partial"
        return PARTIAL_ANSWER
    assert outcome.status is Status.SUCCEEDED, f"the run ended as {outcome.status}"
    assert outcome.answer == expected["answer"], _difference(outcome.answer, expected["answer"])
    return next(filter(None, reasons), None)


def check_scratchpad(case: Case) -> str | None:
    """Write one step as the next request shows it."""
    asked, expected = case["input"], case["expected"]
    kit = _toolkit("", "")
    steps = asked if isinstance(asked, list) else [asked]
    turns = [_turn(step) for step in steps]
    text = scratchpad(State("Q?", turns=turns), kit)
    if isinstance(asked, str):
        assert text.endswith("\nThought: "), text
        assert asked in text, text
        return TOLD_WHAT_WAS_WRONG
    plain = text
    for seen in (seen for turn in turns for seen in turn.observations):
        plain = plain.replace(f"\n{enclosed_observation(seen)}", f" {observed(seen)}", 1)
    assert plain == expected, _difference(plain, expected)
    return None if plain == text else SET_APART


AREAS: dict[str, Callable[[Case], str | None]] = {
    "Thought/Action/Action Input/Final Answer parser": check_parser,
    "tool name normalisation / unknown tool": check_tool,
    "Think-Act-Observe loop, max_iterations=5, steps list": check_loop,
    "scratchpad text": check_scratchpad,
}


def _parsed(pieces: list[str]) -> dict[str, str]:
    reader = ReplyReader()
    for piece in pieces:
        list(reader.feed(piece))
    list(reader.finish())
    reply = reader.reply
    if reply.answer:
        return {"type": "final_answer", "thought": reply.thought, "final_answer": reply.answer}
    if reply.tool:
        return {
            "type": "action",
            "thought": reply.thought,
            "action": reply.tool,
            "action_input": reply.tool_input,
        }
    return {"type": "error", "thought": reply.thought, "error": _UNREADABLE}


def _toolkit(result: str, raises: str) -> Toolkit:
    return Toolkit(_tool(name, result, raises) for name in _TOOLS)


def _tool(name: str, result: str, raises: str) -> Tool:
    def function(text: str) -> str:
        if raises:
            raise RuntimeError(raises)
        return result if result and "input" not in result else f"ran {text}"

    function.__name__, function.__doc__ = name, f"Do what {name} does."
    return tool()(function)


def _called(kit: Toolkit, call: ToolCall) -> Observation:
    running = kit.call(call, Control())
    while True:
        try:
            next(running)
        except StopIteration as end:
            observation: Observation = end.value
            return observation


def _observation_differs(seen: Observation, expected: str, kit: Toolkit) -> str | None:
    if expected.startswith(_BROKE):
        assert seen.error == "ToolFailed", f"{observed(seen)!r} is no failure"
        return HIDDEN_ERROR
    if expected.startswith(_UNKNOWN):
        start = expected.partition(". Available")[0]
        assert seen.error == "ToolNotFound", f"{observed(seen)!r} is no failure"
        assert _same_name(seen.text, start), _difference(seen.text, expected)
        assert all(name in seen.text for name in kit.names), f"{seen.text!r} lists not all tools"
        return OTHER_WORDS
    assert (seen.text, seen.error) == (expected, None), _difference(observed(seen), expected)
    return None


def _paired(state: State, steps: list[dict[str, Any]]) -> list[tuple[Turn, dict[str, Any]]]:
    assert len(state.turns) == len(steps), f"{len(state.turns)} turns, {len(steps)} steps expected"
    return list(zip(state.turns, steps, strict=True))


def _step_differs(turn: Turn, step: Mapping[str, Any], kit: Toolkit) -> str | None:
    assert turn.index + 1 == step["iteration"], f"turn {turn.index + 1} for {step['iteration']}"
    thought, seen = turn.thought, turn.last_observation
    assert thought is not None, "a turn without a thought"
    if step["type"] == "error":
        assert seen is not None, f"{turn} has no reminder"
        assert seen.error == ParseError.__name__, f"{turn} was read"
        return None
    assert thought.text == step["thought"], _difference(thought.text, step["thought"])
    if step["type"] == "final_answer":
        assert thought.answer == step["content"], _difference(thought.answer, step["content"])
        return None
    assert len(turn.calls) == 1, f"{turn} has not one action"
    (call,) = turn.calls
    assert seen is not None, f"{turn} has no observation"
    written = input_text(call, kit)
    assert _same_name(call.tool, step["tool"]), _difference(call, step["tool"])
    assert written == step["tool_input"], _difference(written, step["tool_input"])
    return _observation_differs(seen, step["observation"], kit)


def _same_name(found: str, name: str) -> bool:
    """Tell whether a text begins with a name, in any case, with spaces or underscores."""
    plain, wanted = (text.strip().lower().replace(" ", "_") for text in (found, name))
    return plain.startswith(wanted)


def _turn(asked: str | Mapping[str, str]) -> Turn:
    if isinstance(asked, str):
        broken = text_complaint(asked)
        thought = Thought(kind=ThoughtKind.THOUGHT, text=asked)
        return Turn(index=0, thought=thought, actions=(Action(call=None, observation=broken),))
    call = ToolCall(tool=asked["action"], inputs={"text": asked["action_input"]})
    return Turn(
        index=0,
        thought=Thought(kind=ThoughtKind.ACTION, text=asked["thought"], calls=(call,)),
        actions=(Action(call=call, observation=Observation(text=asked["observation"])),),
    )


def _difference(found: object, expected: object) -> str:
    return f"{found!r}, expected {expected!r}"
