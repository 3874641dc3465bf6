"""Reasoning without observation: a plan with named results, its steps, and one look at the end.

ReWOO (Xu et al. 2023, arXiv 2305.18323): two model calls where all goes well.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from agents.act.by_model import ByModel
from agents.act.by_name import ByName
from agents.contracts import Reason, Value
from agents.decide import TurnLimit, react
from agents.events import Event, RunEnded
from agents.policies.parts import Parts
from agents.policy import Policy
from agents.policy import Summarize as SummarizeShape
from agents.state import State
from agents.summarize import Summarize
from agents.think.evidence import MODEL_STEP, EvidenceThink, Work


class Settings(Value):
    """How often in a run the rest of the plan may be made anew after a step that failed."""

    max_reflections: int = Field(default=2, ge=0, le=20)


def build(parts: Parts) -> Policy:
    """Return the policy for one run."""
    reflections = parts.settings_as(Settings).max_reflections
    model, turns = parts.model, parts.limits.max_turns
    return Policy(
        name="rewoo",
        think=EvidenceThink(model, parts.toolkit, reflections),
        act=ByModel(ByName(parts.toolkit, model.control), model, MODEL_STEP),
        decide=TurnLimit(react, turns),
        summarize=_Honest(Summarize(model, turns)),
    )


@dataclass(frozen=True)
class _Honest:
    """Mark an answer as partial where a step failed in the end, or the plan could not be read."""

    summarize: SummarizeShape

    def __call__(self, state: State) -> Iterator[Event]:
        work = Work.of(state.turns)
        missing = "The plan could not be read to its end." if work.problem else ""
        if work.failed or work.gave_up:
            missing = f"{work.record[-1][0].id} of the plan failed, and no other way was found."
        for event in self.summarize(state):
            if isinstance(event, RunEnded) and event.outcome.reason is Reason.ANSWERED and missing:
                marks = {"partial": True, "message": missing}
                event = RunEnded(outcome=event.outcome.model_copy(update=marks))
            yield event
