"""Think once ahead: a plan with all its tool calls, then the calls in order, then one synthesis."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.contracts import Action, Message, Purpose, Thought, ThoughtKind, ToolCall, Turn
from agents.errors import ProviderGarbled, ToolError
from agents.events import AnswerDelta, Event, ThoughtCompleted, ThoughtDelta
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, enclosed_goal, render
from agents.reading.calls import PlannedCall
from agents.reading.markup.answer_reply import AnswerReader
from agents.reading.plan import CallPlan
from agents.reading.plan_reply import PlanReader
from agents.state import State, observed
from agents.text import CUT_SHORT, clipped
from agents.think.reply import DROPPED
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
        done = sum(len(turn.calls) for turn in state.turns)
        if done < len(plan.calls or ()):
            yield from self._next_call(plan, done)
        else:
            yield from answered(self.model, _synthesis(state, plan), purpose=Purpose.SYNTHESIZE)

    def _plan(self, state: State, *, before: CallPlan | None) -> Iterator[Event]:
        reader = PlanReader(before)
        messages = self._planning(state, again=before is not None)
        yield from self.model.read(reader, messages, purpose=Purpose.PLAN)
        plan = reader.plan
        first = (self._call(plan.calls[0]),) if plan.calls else ()
        kind = ThoughtKind.ACTION if first else ThoughtKind.THOUGHT
        kept = plan.model_dump(mode="json", exclude={"thoughts"})
        yield ThoughtCompleted(node=Thought(kind=kind, text=reader.text, calls=first, plan=kept))

    def _planning(self, state: State, *, again: bool) -> list[Message]:
        rules = render("plan_execute/plan", tools=self.toolkit.describe(), again=again)
        return conversation(rules, state, enclosed_goal(state))

    def _next_call(self, plan: CallPlan, done: int) -> Iterator[Event]:
        calls = plan.calls or ()
        text = f"Call {done + 1} of {len(calls)} of the plan."
        yield ThoughtDelta(text=text)
        call = self._call(calls[done])
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=text, calls=(call,)))

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


def answered(model: Model, messages: Sequence[Message], *, purpose: Purpose) -> Iterator[Event]:
    """Yield a reply that is all answer, with what is thought aloud apart, as a FINAL node.

    Raises ProviderGarbled for a reply without an answer.
    """
    reader = AnswerReader(
        lambda text: AnswerDelta(text=text),
        lambda text: ThoughtDelta(text=text),
        thinks_first=model.asked(purpose).provider.thinks_first,
    )
    call = yield from model.read(reader, messages, purpose=purpose)
    if not reader.said and reader.has_call:
        raise ProviderGarbled(
            "The model asked for a tool in place of an answer, where none can be."
        )
    if not reader.said:
        raise ProviderGarbled("The model put nothing into its answer. The results are kept.")
    answer = reader.said.text + (CUT_SHORT if call.is_cut else "")
    if call.is_cut:
        yield AnswerDelta(text=CUT_SHORT)
    thought = reader.thought.text
    dropped = {DROPPED: True} if reader.has_call else None
    node = Thought(kind=ThoughtKind.FINAL, text=thought, answer=answer, plan=dropped)
    yield ThoughtCompleted(node=node)


def plan_of(turn: Turn) -> CallPlan:
    """Return the plan that a turn fixed."""
    stored = None if turn.thought is None else turn.thought.plan
    return CallPlan.model_validate(stored or {})


def _has_plan(turn: Turn) -> bool:
    plan = None if turn.thought is None else turn.thought.plan
    return plan is not None and DROPPED not in plan


def _synthesis(state: State, plan: CallPlan) -> list[Message]:
    rules = render("plan_execute/synthesize", unread=plan.unread)
    parts = [enclosed_goal(state), f"Intent:\n{enclosed('intent', plan.intent or '(none)')}"]
    parts.append(f"Plan:\n{enclosed('plan', plan.plan or '(none)')}")
    parts += [_result(action) for turn in state.turns for action in turn.actions if action.call]
    return conversation(rules, state, "\n\n".join(parts))


def _result(action: Action) -> str:
    call, observation = action.call, action.observation
    if call is None or observation is None:
        return ""
    inputs = json.dumps(call.inputs, ensure_ascii=False, sort_keys=True)
    result = clipped(observed(observation), _RESULT_LIMIT)
    return f"Call: {call.tool} {inputs}\n{enclosed('result', result)}"
