"""Think without observing: a plan whose steps name their results, the steps, then the answer.

ReWOO (Xu et al. 2023, arXiv 2305.18323). A step's inputs take the results of earlier steps by
name, so the model is not asked between them; it looks back only at a step that failed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.contracts import Message, Observation, Purpose, Thought, ThoughtKind, ToolCall, Turn
from agents.errors import ToolError
from agents.events import Event, ThoughtCompleted, ThoughtDelta
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, enclosed_goal, render
from agents.reading.steps import PlanStep, Steps, parse_steps, substituted, with_quoted_variables
from agents.reading.thinking import Piece, ThinkingReader
from agents.reading.trimmed import Trimmed
from agents.state import State, observed
from agents.text import clipped, storable
from agents.think.plan import answered
from agents.tools.toolkit import Toolkit

MODEL_STEP = "LLM"
"""The name of a step that the model itself does, with no tool."""

_TRIES = 2
_EVIDENCE_LIMIT = 20_000
_BREAKS_OFF = "The plan breaks off."


@dataclass(frozen=True)
class EvidenceThink:
    """Plan, hand out the steps one a turn with their evidence filled in, and solve.

    After a failed step the model may plan the rest anew, `max_reflections` times in a run.
    """

    model: Model
    toolkit: Toolkit
    max_reflections: int = 2

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the next thought; between the plan and the answer the model is not asked."""
        work = Work.of(state.turns)
        may_reflect = work.failed and work.reflections < self.max_reflections
        if work.tries == 0 or may_reflect or (work.problem and work.tries < _TRIES):
            yield from self._plan(state, work)
        elif not (work.failed or work.problem) and work.done < len(work.steps):
            yield from self._next_step(work)
        else:
            yield from answered(self.model, _solving(state, work), purpose=Purpose.SOLVE)

    def _plan(self, state: State, work: "Work") -> Iterator[Event]:
        reader = _StepsReader()
        purpose = Purpose.PLAN_AGAIN if work.record else Purpose.PLAN_STEPS
        call = yield from self.model.read(reader, self._planning(state, work), purpose=purpose)
        plan = parse_steps("".join(reader.said), work.evidence)
        if call.is_cut:
            plan = Steps(problem=_BREAKS_OFF)
        yield ThoughtCompleted(node=self._planned(plan, reader.shown.text, work))

    def _planned(self, plan: Steps, text: str, work: "Work") -> Thought:
        usable = plan.steps and not plan.problem
        calls = (self._call(plan.steps[0], work),) if usable else ()
        kind = ThoughtKind.ACTION if calls else ThoughtKind.THOUGHT
        kept = plan.model_dump(mode="json") | {"unread": bool(plan.problem)}
        return Thought(kind=kind, text=text, calls=calls, plan=kept)

    def _planning(self, state: State, work: "Work") -> list[Message]:
        rules = render(
            "rewoo/plan",
            tools=self.toolkit.describe(),
            model_step=MODEL_STEP,
            reflects=bool(work.record),
            problem=work.problem,
        )
        return conversation(rules, state, "\n\n".join([enclosed_goal(state), *work.told()]))

    def _next_step(self, work: "Work") -> Iterator[Event]:
        step = work.steps[work.done]
        text = f"{step.id} of the plan. {step.why}".strip()
        yield ThoughtDelta(text=text)
        call = self._call(step, work)
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=text, calls=(call,)))

    def _call(self, step: PlanStep, work: "Work") -> ToolCall:
        """Return the action; what cannot be read fails when it is called, as an observation."""
        try:
            tool = self.toolkit.get(step.tool)
            inputs = self.toolkit.inputs_from_text(tool, with_quoted_variables(step.text))
            return ToolCall(tool=tool.name, inputs=substituted(inputs, work.evidence))
        except ToolError:
            is_own = step.tool.upper() == MODEL_STEP
            text = substituted(step.text, work.evidence)
            return ToolCall(tool=MODEL_STEP if is_own else step.tool, inputs={"input": text})


@dataclass
class Work:
    """What the turns say of the work: the plan in force, and the results by name.

    `tries` counts the last plans up to the first that could be read; `failed` is true after a step
    that did not go well, `gave_up` after a plan that takes no other way.
    """

    steps: tuple[PlanStep, ...] = ()
    problem: str = ""
    done: int = 0
    tries: int = 0
    reflections: int = 0
    failed: bool = False
    gave_up: bool = False
    evidence: dict[str, str] = field(default_factory=dict)
    record: list[tuple[PlanStep, str]] = field(default_factory=list)

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> "Work":
        """Return what is done by these turns."""
        work = cls()
        for turn in turns:
            if turn.thought is not None and "steps" in (turn.thought.plan or {}):
                work._begin(turn.thought.plan or {})
            for action in turn.actions:
                if action.call is not None and action.observation is not None:
                    work._finish(action.observation)
        return work

    def told(self) -> list[str]:
        """Return the steps with their results, as a model reads them."""
        return [
            f"{step.id} = {step.tool}[{step.text}]\n"
            + enclosed("result", clipped(result, _EVIDENCE_LIMIT))
            for step, result in self.record
        ]

    def _begin(self, plan: dict[str, object]) -> None:
        read = Steps.model_validate({"steps": plan["steps"], "problem": plan["problem"]})
        self.tries = self.tries + 1 if self.problem else 1
        self.reflections += bool(self.record) and not self.problem
        self.steps, self.problem, self.done = read.steps, read.problem, 0
        self.gave_up = self.failed and not read.steps
        self.failed = False

    def _finish(self, seen: Observation) -> None:
        if self.done >= len(self.steps):
            return
        step, self.done = self.steps[self.done], self.done + 1
        self.failed = seen.error is not None
        self.record.append((step, observed(seen)))
        if not self.failed:
            self.evidence[step.id] = clipped(seen.text.strip(), _EVIDENCE_LIMIT)


def _solving(state: State, work: Work) -> list[Message]:
    return conversation(
        render("rewoo/solve", unread=bool(work.problem)),
        state,
        "\n\n".join([enclosed_goal(state), *work.told()]),
    )


class _StepsReader:
    """Show all of a reply as thought; `said` is what was not thought aloud."""

    done = False

    def __init__(self) -> None:
        self.shown, self.said = Trimmed(), list[str]()
        self._thinking = ThinkingReader()

    def think_aloud(self, text: str) -> Iterator[ThoughtDelta]:
        """Take what a reasoning model says to itself."""
        yield from self._show(storable(text))

    def feed(self, chunk: str) -> Iterator[ThoughtDelta]:
        """Take more of the reply; yield what it shows."""
        yield from self._take(self._thinking.feed(storable(chunk)))

    def finish(self, *, is_cut: bool) -> Iterator[ThoughtDelta]:
        """Take the reply as complete; yield what was held back."""
        yield from self._take(self._thinking.finish())

    def _take(self, pieces: list[Piece]) -> Iterator[ThoughtDelta]:
        for piece in pieces:
            if not piece.is_thought:
                self.said.append(piece.text)
            yield from self._show(piece.text)

    def _show(self, text: str) -> Iterator[ThoughtDelta]:
        if new := self.shown.add(text):
            yield ThoughtDelta(text=new)
