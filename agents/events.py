"""What a run tells while it happens; chat/stream/server_events.py has what a page is sent of it.

Think and act yield events; the loop folds them into the State and passes them on. The order within
a turn is: turn.started, thought.delta*, thought.completed, actions.proposed?, then for each action
action.started?, observation.delta*, observed, and turn.completed. A model.called follows the deltas
of its call. What is told of an action is told of the one at `position`, from 0; None is the turn's
first that has no observation yet. Where actions run at once, what is told of them comes as it does.
"""

from typing import Annotated, Literal

from pydantic import Field

from agents.contracts import ModelCall, Observation, Outcome, Thought, ToolCall, Turn, Value


class TurnStarted(Value):
    """A new turn begins."""

    type: Literal["turn.started"] = "turn.started"
    index: int


class ThoughtDelta(Value):
    """More text of the current thought."""

    type: Literal["thought.delta"] = "thought.delta"
    text: str


class AnswerDelta(Value):
    """More text of the answer; in a turn that comes to actions it was none, and is void."""

    type: Literal["answer.delta"] = "answer.delta"
    text: str


class ThoughtCompleted(Value):
    """The current turn's thought is complete."""

    type: Literal["thought.completed"] = "thought.completed"
    node: Thought


class ActionsProposed(Value):
    """The current turn's actions are known; none has begun, and all may be stored before one does.

    They are carried out in their order, or at once; there is at least one.
    """

    type: Literal["actions.proposed"] = "actions.proposed"
    calls: tuple[ToolCall, ...] = Field(min_length=1)


class ActionStarted(Value):
    """The tool of an action runs from here on."""

    type: Literal["action.started"] = "action.started"
    position: int | None = None


class ObservationDelta(Value):
    """More output of a running tool."""

    type: Literal["observation.delta"] = "observation.delta"
    text: str
    position: int | None = None


class Observed(Value):
    """The observation of an action under way is complete, or that of a reply without an action."""

    type: Literal["observed"] = "observed"
    observation: Observation
    position: int | None = None


class TurnCompleted(Value):
    """The current turn will not change any more."""

    type: Literal["turn.completed"] = "turn.completed"
    turn: Turn


class ModelCalled(Value):
    """A model was called; the record is exact.

    `passed_to` names the provider that is asked the same instead, where this one did not answer.
    """

    type: Literal["model.called"] = "model.called"
    call: ModelCall
    passed_to: str = ""


class RunEnded(Value):
    """The run is over."""

    type: Literal["run.ended"] = "run.ended"
    outcome: Outcome


Event = Annotated[
    TurnStarted
    | ThoughtDelta
    | AnswerDelta
    | ThoughtCompleted
    | ActionsProposed
    | ActionStarted
    | ObservationDelta
    | Observed
    | TurnCompleted
    | ModelCalled
    | RunEnded,
    Field(discriminator="type"),
]
