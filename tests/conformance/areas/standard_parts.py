"""The implicit reasoner's parts by themselves: decisions, summaries, goals and previews."""

import json
from collections.abc import Callable
from typing import Any

from agents.contracts import Action, EndReason, Observation, Thought, ThoughtKind, ToolCall, Turn
from agents.control import Control
from agents.decide import react
from agents.events import ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.policy import Step
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.summarize import FinalAnswer
from agents.terminal.preview import preview
from agents.think.clarify import settled_goal
from agents.tools.toolkit import Toolkit
from tests.conformance.differences import difference, outcome_of

Case = dict[str, Any]


def check_decision(case: Case) -> str | None:
    """Decide after the latest turn that the case names."""
    step = react(State("g", turns=_turns(case["input"]))).step
    decided = "REASON" if step is Step.THINK else step.name
    assert decided == case["expected"], difference(decided, case["expected"])
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
    outcome = outcome_of(state)
    answer = outcome.answer.strip()
    assert answer == expected["result"].strip(), difference(answer, expected["result"])
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
    outcome = outcome_of(state)
    question = outcome.answer if outcome.reason is EndReason.ASKED else None
    wanted = expected.get("question")
    assert question == (wanted and wanted.strip()), difference(question, wanted)
    goal = settled_goal(state.turns[0]) or ""
    assert goal.strip() == expected["goal"].strip(), difference(goal, expected["goal"])
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
        assert preview(asked) == expected, difference(preview(asked), expected)
    return None


AREAS: dict[str, Callable[[Case], str | None]] = {
    "DecidePolicy": check_decision,
    "Summarizer": check_summary,
    "goal preprocessor": check_goal,
    "trace value preview / secret redaction": check_preview,
}


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
