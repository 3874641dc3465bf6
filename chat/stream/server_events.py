"""What a page is sent, by type: the events of a run's stream and the frames around them.

These are the shapes of docs/protocol.md. They are plain dicts that mypy checks, for to make a
model of pydantic's for every token of a reply, and its dict, takes ten times as long.
"""

from typing import Literal, NotRequired, TypedDict


class RunStarted(TypedDict):
    """A worker has the run."""

    type: Literal["run.started"]
    attempt: int


class RunWaiting(TypedDict):
    """The run waits for its model behind so many calls; None: it is its turn."""

    type: Literal["run.waiting"]
    ahead: int | None


class RunPaused(TypedDict):
    """The model's server asks for patience."""

    type: Literal["run.paused"]


TurnChange = Literal[
    "turn.started",
    "actions.proposed",
    "action.completed",
    "approval.requested",
    "approval.decided",
]


class TurnShown(TypedDict):
    """A turn is another than it was; `html` is the whole of it."""

    type: TurnChange
    index: int
    html: str


class TurnCompleted(TypedDict):
    """A turn will not change any more; `plan` is the run's plan, where the turn changed that."""

    type: Literal["turn.completed"]
    index: int
    html: str
    plan: NotRequired[str]


class ActionStarted(TypedDict):
    """The tool of the turn's action at `position`, from 0, runs."""

    type: Literal["action.started"]
    index: int
    position: int
    tool: str


class ThoughtDelta(TypedDict):
    """More of the open turn's thought."""

    type: Literal["thought.delta"]
    index: int
    text: str


class ObservationDelta(TypedDict):
    """More of what the tool of the open turn's action at `position` puts out."""

    type: Literal["observation.delta"]
    index: int
    position: int
    text: str


class AnswerDelta(TypedDict):
    """More of the answer."""

    type: Literal["answer.delta"]
    text: str


class RunInterrupted(TypedDict):
    """The attempt is over and the run will resume; `html` is the whole run."""

    type: Literal["run.interrupted"]
    message: str
    html: str


class RunEnded(TypedDict):
    """The last event of a run; `html` is the whole run."""

    type: Literal["run.ended"]
    status: str
    reason: str
    html: str


Delta = ThoughtDelta | ObservationDelta | AnswerDelta
Event = (
    RunStarted
    | RunWaiting
    | RunPaused
    | TurnShown
    | TurnCompleted
    | ActionStarted
    | Delta
    | RunInterrupted
    | RunEnded
)


class Events(TypedDict):
    """What happened next in a run; `id` is the cursor after it."""

    type: Literal["events"]
    run: int
    id: str
    events: list[Event]


class RunCreated(TypedDict):
    """A run that the page does not have, whoever asked."""

    type: Literal["run.created"]
    run: int
    client_message_id: str
    html: str


class RunSnapshot(TypedDict):
    """The run as it is stored, up to `id`."""

    type: Literal["run.snapshot"]
    run: int
    id: str
    html: str


class RunQueued(TypedDict):
    """So many runs begin before this one, None if nobody knows; no part of the stream."""

    type: Literal["run.queued"]
    run: int
    ahead: int | None


class RunStalled(TypedDict):
    """Whether the run's worker has given no sign of life for long; no part of the stream."""

    type: Literal["run.stalled"]
    run: int
    stalled: bool


class CaughtUp(TypedDict):
    """Everything was sent that the page missed, all runs up to `after` among it."""

    type: Literal["caught_up"]
    after: int


class Heartbeat(TypedDict):
    """A sign of life."""

    type: Literal["heartbeat"]


class Error(TypedDict):
    """What went wrong, in words for the person."""

    type: Literal["error"]
    code: str
    message: str
    client_message_id: str | None


class Closed(TypedDict):
    """Why a response without a socket ends; the codes are those of the socket."""

    type: Literal["closed"]
    code: int


ServerFrame = (
    Events
    | RunCreated
    | RunSnapshot
    | RunQueued
    | RunStalled
    | CaughtUp
    | Heartbeat
    | Error
    | Closed
)
