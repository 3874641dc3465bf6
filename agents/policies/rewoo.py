"""Reasoning without observation: a plan with named results, its steps, and one look at the end.

ReWOO (Xu et al. 2023, arXiv 2305.18323): two model calls where all goes well.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from agents.act.model_step import ModelStepAct
from agents.act.named_tool import NamedToolAct
from agents.contracts import EndReason, Value
from agents.decide import react
from agents.events import Event, RunEnded
from agents.policies.context import Parts
from agents.policies.declared import policy
from agents.policy import Policy, Summarize
from agents.state import State
from agents.summarize import FinalAnswer
from agents.think.evidence import MODEL_STEP, EvidenceThink, Work


class Settings(Value):
    """How often in a run the rest of the plan may be made anew after a step that failed."""

    max_reflections: int = Field(
        default=2,
        ge=0,
        le=20,
        description="How often the rest may be planned anew after a failure.",
    )


@policy("rewoo", Settings)
def rewoo(parts: Parts, settings: Settings) -> Policy:
    """Return the policy for one run."""
    model, turns = parts.model, parts.limits.max_turns
    return Policy(
        think=EvidenceThink(model, parts.toolkit, settings.max_reflections),
        act=ModelStepAct(NamedToolAct(parts.toolkit, model.control), model, MODEL_STEP),
        decide=react,
        reads_on=False,
        summarize=_Honest(FinalAnswer(model, turns)),
    )


@dataclass(frozen=True)
class _Honest:
    """Mark an answer as partial where a step failed in the end, or the plan could not be read."""

    summarize: Summarize

    def __call__(self, state: State) -> Iterator[Event]:
        work = Work.of(state.turns)
        missing = "The plan could not be read to its end." if work.problem else ""
        if work.failed or work.gave_up:
            missing = f"{work.record[-1][0].id} of the plan failed, and no other way was found."
        for event in self.summarize(state):
            if (
                isinstance(event, RunEnded)
                and event.outcome.reason is EndReason.ANSWERED
                and missing
            ):
                marks = {"partial": True, "message": missing}
                event = RunEnded(outcome=event.outcome.model_copy(update=marks))
            yield event


def _is_answered(event: RunEnded) -> bool:
    return event.outcome.reason is EndReason.ANSWERED
