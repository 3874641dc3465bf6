"""Think in structure: one object of a thought and an action, read in any shape, or repaired.

The action `complete` with the last goal is the answer; any other action is carried out.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

from agents.contracts import (
    Image,
    Message,
    ModelCall,
    Purpose,
    Role,
    Thought,
    ThoughtKind,
    ToolCall,
)
from agents.errors import ToolNotFound
from agents.events import AnswerDelta, Event, ThoughtCompleted
from agents.history.novelty import is_same_step, stale_row
from agents.model.model import Model
from agents.model.tokens import tokens
from agents.planning import GoalPlan, GoalStatus, goal_plan_of
from agents.prompting.prompts import conversation, enclosed, enclosed_goal, render
from agents.prompting.window import Window, clamped, with_recent
from agents.reading.markup.marks import begins_call, without_begin_marks
from agents.reading.prose import Whole
from agents.reading.structured.fields import complaints
from agents.reading.structured.parse import Structured, parse_structured
from agents.reading.structured.reply import StructuredReader
from agents.reading.structured.schema import step_schema
from agents.state import State
from agents.text import storable
from agents.think.reply import calls_of, read_otherwise
from agents.tools.finishing import COMPLETE
from agents.tools.toolkit import Toolkit

REPAIRS = 2
_REPAIR_TEMPERATURE = 0.1
_ECHO = 2_000
"""Characters of a reply that could not be read, that its repair sees."""
_NAME_LIMIT = 100
_SCREENSHOT = "screenshot"
_ENDS = frozenset({"finish", "finalanswer"})
"""What models also call the action that settles the goal, where no tool has that name."""
_LETTERS = re.compile(r"[^a-z]+")
_PLAN_TOKENS = 1_500
_PICTURE_TOKENS = 1_500
_HISTORY_SHARE = 0.15
_LEAST = 500


@dataclass(frozen=True)
class StructuredThink:
    """Ask for the next step; a reply without an action that can be read is repaired at most twice.

    `rules` gives the system message, `most` is the tokens of one request, `kept` how many of the
    newest steps stay whole in it. A model that `sees` is given the last picture of the last
    observation, one that `asks_to_see` only that of a screenshot. Where the thought `is_tree`, its
    form is one of several ways.
    """

    model: Model
    toolkit: Toolkit
    rules: Callable[[], str]
    most: int = 25_000
    kept: int = 2
    sees: bool = False
    asks_to_see: bool = False
    is_tree: bool = False

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the thought as it comes, then what it adds up to."""
        plan = goal_plan_of(state.turns)
        is_at_last = plan is None or plan.is_at_last
        reader = StructuredReader(
            self.toolkit.names, lambda tool: is_at_last and self._name(tool) == COMPLETE
        )
        messages = self._messages(state, plan)
        call = yield from self.model.read(
            reader, messages, purpose=Purpose.STEP, as_json=True, reply_schema=self._form
        )
        reply = self._completed(reader.reply)
        problems = self._problems(reply, is_cut=call.is_cut and not reader.done)
        other: Structured | Thought | None = self._otherwise(reply, call, plan)
        if other is None and problems:
            other = yield from self._repaired(call.reply, problems, plan)
        if isinstance(other, Thought):
            if other.answer:
                yield AnswerDelta(text=other.answer)
            yield ThoughtCompleted(node=other)
            return
        yield from self._concluded(reader, other or (None if problems else reply), plan)

    def _completed(self, reply: Structured) -> Structured:
        """Return a reply that says in a field of its own that all is done as the action for that.

        A tool that it names beside that is used first: a result cannot know what comes of it.
        """
        if not reply.is_complete:
            return reply
        if reply.tool is not None and (self._name(reply.tool) != COMPLETE or _result(reply)):
            return reply
        result = {} if reply.result is None else {"result": reply.result}
        return reply.model_copy(update={"tool": COMPLETE, "parameters": result})

    @property
    def _form(self) -> dict[str, Any]:
        schemas = {tool.name: tool.schema for tool in self.toolkit.tools}
        return step_schema(schemas, is_tree=self.is_tree)

    def _otherwise(
        self, reply: Structured, call: ModelCall, plan: GoalPlan | None, *, is_second: bool = False
    ) -> Thought | None:
        """Return the answer or the calls of a reply of another form, None where it is of this one.

        What is said without any step is the answer where a step was asked for a second time.
        """
        if call.is_cut or reply.is_half or self._is_step(reply, call.reply):
            return None
        purpose = Purpose.REPAIR if is_second else Purpose.STEP
        habit = self.model.asked(purpose).provider.thinks_first
        reading = read_otherwise(call.reply, self.toolkit, thinks_first=habit)
        calls = calls_of(reading.actions, self.toolkit)
        if answer := reading.answer or (reading.prose if is_second else ""):
            if plan is None or plan.is_at_last:
                return Thought(kind=ThoughtKind.FINAL, text=reading.thought, answer=answer)
            calls = (ToolCall(tool=COMPLETE, inputs={"result": answer, "goal": plan.number}),)
        if calls and all(self.toolkit.knows(one.tool) for one in calls):
            return Thought(kind=ThoughtKind.ACTION, text=reading.thought, calls=calls)
        return None

    def _is_step(self, reply: Structured, raw: str) -> bool:
        """Tell whether a reply is a step of the form that was asked for, or was meant for one."""
        if reply.format != "json" or begins_call(raw):
            return False
        if reply.tool is None:
            return isinstance((reply.value or {}).get("action"), dict)
        return self.toolkit.knows(reply.tool)

    def _repaired(
        self, raw: str, problems: list[str], plan: GoalPlan | None
    ) -> Generator[Event, None, Structured | Thought | None]:
        """Return the first repaired reply that can be read, None where none can."""
        cooler = replace(self.model, temperature=_REPAIR_TEMPERATURE)
        for _ in range(REPAIRS):
            messages = self._asks_for_repair(raw, problems)
            call = yield from cooler.read(
                Whole(), messages, purpose=Purpose.REPAIR, as_json=True, reply_schema=self._form
            )
            raw = call.reply
            reply = self._completed(parse_structured(raw, self.toolkit.names))
            problems = self._problems(reply)
            if other := self._otherwise(reply, call, plan, is_second=True):
                return other
            if not problems:
                return reply
        return None

    def _asks_for_repair(self, raw: str, problems: list[str]) -> list[Message]:
        rules = render(
            "planned/repair",
            tools=self.toolkit.describe(),
            problems=problems,
            reply=enclosed("reply", storable(raw)[:_ECHO]),
        )
        return [Message(role=Role.USER, content=rules)]

    def _problems(self, reply: Structured, *, is_cut: bool = False) -> list[str]:
        """Return why a reply cannot be acted on, for the model that shall repair it."""
        if reply.is_half or is_cut:
            return ["The reply breaks off before it is complete. Write it anew, and shorter."]
        if reply.error is not None:
            return [f"{reply.error.removesuffix(': ')}: it holds no JSON object with an action"]
        if reply.tool is None:
            found = complaints(reply.value) if reply.value is not None else []
            return found or ["Missing required field 'action'"]
        if self._name(reply.tool) == COMPLETE and not _result(reply):
            return [f"'action.parameters.result' of {COMPLETE} is empty"]
        return []

    def _concluded(
        self, reader: StructuredReader, reply: Structured | None, plan: GoalPlan | None
    ) -> Iterator[Event]:
        if reply is None or reply.tool is None:
            text = reader.thought or storable(reader.raw).strip()[:_ECHO]
            yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=text))
            return
        text = reader.thought or reply.thought or ""
        call = self._call(reply.tool, reply)
        if call.tool == COMPLETE and (plan is None or plan.is_at_last):
            answer = _result(reply)
            if not reader.answer:
                yield AnswerDelta(text=answer)
            elif reply is reader.reply:
                answer = reader.answer
            yield ThoughtCompleted(node=Thought(kind=ThoughtKind.FINAL, text=text, answer=answer))
            return
        if call.tool == COMPLETE and plan is not None:
            call = ToolCall(tool=COMPLETE, inputs={**call.inputs, "goal": plan.number})
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=text, calls=(call,)))

    def _call(self, name: str, reply: Structured) -> ToolCall:
        """Return the action; an unknown tool fails when it is called, as an observation."""
        name = self._name(name)
        if name == COMPLETE:
            return ToolCall(tool=name, inputs={"result": _result(reply)})
        return ToolCall(tool=name, inputs=reply.parameters)

    def _name(self, given: str) -> str:
        try:
            return self.toolkit.get(given).name
        except ToolNotFound:
            is_end = _LETTERS.sub("", given.lower()) in _ENDS
            return COMPLETE if is_end else given[:_NAME_LIMIT]

    def _messages(self, state: State, plan: GoalPlan | None) -> list[Message]:
        """Return the request: what grows comes after what stays, what changes comes last."""
        goal, rules = enclosed_goal(state), self.rules()
        told = with_recent(state, int(self.most * _HISTORY_SHARE))
        spent = tokens(rules) + tokens(goal) + _PLAN_TOKENS + self.sees * _PICTURE_TOKENS
        before = _before(plan, self.most)
        spent += tokens(before)
        spent += sum(tokens(exchange.question + exchange.answer) for exchange in told.history)
        steps = Window(max(_LEAST, self.most - spent), self.kept).told(state.turns)
        tail = render(
            "planned/next",
            plan=plan,
            before=before,
            warning=_warning(state),
            is_first=not steps,
        )
        asked = f"{goal}{steps}\n\n{tail}"
        *earlier, last = conversation(rules, told, asked)
        picture = _last_picture(state, self.asks_to_see) if self.sees else ()
        return [*earlier, last.model_copy(update={"images": picture})]


def _result(reply: Structured) -> str:
    """Return the result of a completion, under the names that models give it; 0 is one."""
    given = reply.parameters
    names = ("result", "answer", "summary", "final_answer", "message", "output", "text")
    said = (given[name] for name in names if given.get(name) not in (None, "", [], {}))
    found = next(said, "")
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return without_begin_marks(text).strip()


def _before(plan: GoalPlan | None, most: int) -> str:
    """Write what was asked first and what its goals came to, where a question back lies between."""
    if plan is None or not plan.task:
        return ""
    reached = [goal for goal in plan.goals if goal.status is GoalStatus.REACHED and goal.outcome]
    each = int(most * _HISTORY_SHARE) // (len(reached) + 1)
    parts = [enclosed("task", clamped(plan.task, each))]
    for goal in reached:
        parts.append(f"{goal.description}\n{enclosed('result', clamped(goal.outcome, each))}")
    return "\n\n".join(parts)


def _last_picture(state: State, is_asked_for: bool) -> tuple[Image, ...]:
    """Return the last picture of the last observation; an older one shows what is no more."""
    turn = next((turn for turn in reversed(state.turns) if turn.is_observed), None)
    if turn is None or turn.last_observation is None:
        return ()
    if is_asked_for and not (turn.calls and _SCREENSHOT in turn.calls[-1].tool):
        return ()
    return turn.last_observation.images[-1:]


def _warning(state: State) -> bool:
    """Tell whether the last two steps were the same, or both brought nothing new."""
    done = [turn for turn in state.turns if turn.calls]
    return len(done) > 1 and (is_same_step(done[-1], done[-2]) or stale_row(done, 2) == 2)
