"""Think once ahead: a plan with all its tool calls, then the calls in order, then one synthesis."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.contracts import Message, Thought, ThoughtKind, ToolCall, Turn
from agents.errors import ProviderGarbled, ToolError
from agents.events import AnswerDelta, Event, ModelCalled, ThoughtCompleted, ThoughtDelta
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, enclosed_goal, render
from agents.reading.calls import PlannedCall
from agents.reading.plan import CallPlan
from agents.reading.plan_reply import PlanReader
from agents.reading.thinking import ThinkingReader
from agents.reading.trimmed import Trimmed
from agents.state import State, observed
from agents.text import clipped, storable
from agents.think.text import CUT_SHORT
from agents.tools.toolkit import Toolkit

_TRIES = 2
"""How many plans are asked for when the tool calls of one cannot be read."""
_NAME_LIMIT = 100
_RESULT_LIMIT = 60_000
"""Characters of one result that the synthesis sees; the middle of a longer one is left out."""


@dataclass(frozen=True)
class PlanThink:
    """Plan, hand out the plan's calls one a turn, and put their results into an answer."""

    model: Model
    toolkit: Toolkit

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the next thought; only the first and the last of a run ask the model."""
        plans = [turn for turn in state.turns if _has_plan(turn)]
        plan = plan_of(plans[-1]) if plans else None
        if plan is None or (plan.unread and len(plans) < _TRIES):
            yield from self._plan(state, before=plan)
            return
        done = sum(turn.action is not None for turn in state.turns)
        if done < len(plan.calls or ()):
            yield from self._next_call(plan, done)
        else:
            yield from answered(self.model, _synthesis(state, plan), purpose="synthesize")

    def _plan(self, state: State, *, before: CallPlan | None) -> Iterator[Event]:
        reader = PlanReader(before)
        messages = self._planning(state, again=before is not None)
        for item in self.model.stream(messages, purpose="plan"):
            if isinstance(item, ModelCalled):
                yield from reader.finish()
                yield item
            elif item.kind == "reasoning":
                yield from reader.think_aloud(item.text)
            else:
                yield from reader.feed(item.text)
        plan = reader.plan
        first = self._call(plan.calls[0]) if plan.calls else None
        kind = ThoughtKind.THOUGHT if first is None else ThoughtKind.ACTION
        kept = plan.model_dump(mode="json", exclude={"thoughts"})
        yield ThoughtCompleted(node=Thought(kind=kind, text=reader.text, call=first, plan=kept))

    def _planning(self, state: State, *, again: bool) -> list[Message]:
        rules = render("plan_execute/plan", tools=self.toolkit.describe(), again=again)
        return conversation(rules, state, enclosed_goal(state))

    def _next_call(self, plan: CallPlan, done: int) -> Iterator[Event]:
        calls = plan.calls or ()
        text = f"Call {done + 1} of {len(calls)} of the plan."
        yield ThoughtDelta(text=text)
        call = self._call(calls[done])
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=text, call=call))

    def _call(self, planned: PlannedCall) -> ToolCall:
        """Return the action; what cannot be read fails when it is called, as an observation."""
        name, arguments = planned.tool[:_NAME_LIMIT], planned.arguments
        try:
            tool = self.toolkit.get(name)
            name = tool.name
            if isinstance(arguments, str):
                arguments = self.toolkit.inputs_from_text(tool, arguments)
        except ToolError:
            pass
        if arguments is None or isinstance(arguments, dict):
            return ToolCall(tool=name, inputs=arguments or {})
        return ToolCall(tool=name, inputs={"input": arguments})


def answered(model: Model, messages: Sequence[Message], *, purpose: str) -> Iterator[Event]:
    """Yield a reply that is all answer, with what is thought aloud apart, as a FINAL node.

    Raises ProviderGarbled for a reply without an answer.
    """
    thought, answer, thinking = Trimmed(), Trimmed(), ThinkingReader()
    cut = False
    for item in model.stream(messages, purpose=purpose):
        if isinstance(item, ModelCalled):
            yield from _shown(thinking.finish(), thought, answer)
            yield item
            cut = item.call.stop_reason == "length"
        elif item.kind == "reasoning":
            yield from _shown([(True, storable(item.text))], thought, answer)
        else:
            yield from _shown(thinking.feed(storable(item.text)), thought, answer)
    if not answer:
        raise ProviderGarbled("The model put nothing into its answer. The results are kept.")
    text = answer.text + (CUT_SHORT if cut else "")
    if cut:
        yield AnswerDelta(text=CUT_SHORT)
    yield ThoughtCompleted(node=Thought(kind=ThoughtKind.FINAL, text=thought.text, answer=text))


def plan_of(turn: Turn) -> CallPlan:
    """Return the plan that a turn fixed."""
    stored = None if turn.thought is None else turn.thought.plan
    return CallPlan.model_validate(stored or {})


def _has_plan(turn: Turn) -> bool:
    return turn.thought is not None and turn.thought.plan is not None


def _shown(
    pieces: Sequence[tuple[bool, str]], thought: Trimmed, answer: Trimmed
) -> Iterator[Event]:
    """Yield the pieces of a synthesis; once the answer has begun, nothing is a thought any more."""
    for is_thought, text in pieces:
        if not is_thought:
            if shown := answer.add(text):
                yield AnswerDelta(text=shown)
        elif not answer and (shown := thought.add(text)):
            yield ThoughtDelta(text=shown)


def _synthesis(state: State, plan: CallPlan) -> list[Message]:
    rules = render("plan_execute/synthesize", unread=plan.unread)
    parts = [enclosed_goal(state), f"Intent:\n{enclosed('intent', plan.intent or '(none)')}"]
    parts.append(f"Plan:\n{enclosed('plan', plan.plan or '(none)')}")
    parts += [_result(turn) for turn in state.turns if turn.action is not None]
    return conversation(rules, state, "\n\n".join(parts))


def _result(turn: Turn) -> str:
    call, observation = turn.action, turn.observation
    if call is None or observation is None:
        return ""
    inputs = json.dumps(call.inputs, ensure_ascii=False, sort_keys=True)
    result = clipped(observed(observation), _RESULT_LIMIT)
    return f"Call: {call.tool} {inputs}\n{enclosed('result', result)}"
