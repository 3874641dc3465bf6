"""What a run is made of: values that the loop, the store, the page and the tests share.

All of it is frozen and JSON-ready; identity (ids, owners, versions) belongs to whoever stores it.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from agents.nesting import bounded


class Value(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ThoughtKind(StrEnum):
    """What a thought leads to."""

    THOUGHT = "thought"
    ACTION = "action"
    FINAL = "final"


class ToolCall(Value):
    """An action: a tool's name and its inputs, as the model gave them.

    What is nested too deep to be stored is cut where it is too deep; no tool takes the rest.
    """

    tool: str
    inputs: Annotated[dict[str, Any], BeforeValidator(bounded)]


class Thought(Value):
    """What one think step concluded.

    `text` is the reasoning (for an implicit ACTION: the plain-language instruction), `calls` the
    actions if think already named their tools, in their order, `answer` the user-facing text of a
    FINAL node. `plan` is what a planning policy fixed here for later turns, as JSON of its own
    making. `kept` is what a server wants back of each call that its model made natively, likewise.
    """

    kind: ThoughtKind
    text: str
    calls: tuple[ToolCall, ...] = ()
    answer: str = ""
    plan: dict[str, Any] | None = None
    kept: tuple[dict[str, Any], ...] = ()


class EndReason(StrEnum):
    """Why a run ended."""

    ANSWERED = "answered"
    ASKED = "asked"
    TURNS = "turns"
    REPEATS = "repeats"
    FAILURES = "failures"
    GAVE_UP = "gave_up"
    TIME = "time"
    BUDGET = "budget"
    STOPPED = "stopped"
    PROVIDER = "provider"
    CONFIGURATION = "configuration"
    INTERNAL = "internal"


class Image(Value):
    """A picture: its media type, such as `image/png`, and its bytes in base64."""

    media_type: str = Field(pattern=r"^image/[a-z0-9.+-]+$")
    data: str = Field(pattern=r"^[A-Za-z0-9+/]+={0,2}$")


class Observation(Value):
    """What came back from an action; `error` names the kind of failure, None when it went well.

    `ends` says why the run ends here, with `text` as its answer; None when it goes on. `images`
    are for a model that can see and for the page; `text` says what they show.
    """

    text: str
    error: str | None = None
    ends: EndReason | None = None
    images: tuple[Image, ...] = ()


class Action(Value):
    """A call of a tool with what came back: None while it waits or runs.

    Without a call it is a reply that came to no action, and the observation says so.
    """

    call: ToolCall | None
    observation: Observation | None = None

    @property
    def has_failed(self) -> bool:
        """Tell whether a failure came back."""
        return self.observation is not None and self.observation.error is not None


class Turn(Value):
    """One pass of think, act, observe; any part may be absent.

    The actions run in their order, or at once where that is safe. Where one of them ends the run,
    those behind it have no observation.
    """

    index: int
    thought: Thought | None = None
    actions: tuple[Action, ...] = ()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the turn's actions."""
        return tuple(action.call for action in self.actions if action.call is not None)

    @property
    def position(self) -> int | None:
        """Return the place of the first action that has no observation; None where all have."""
        return next((n for n, one in enumerate(self.actions) if one.observation is None), None)

    @property
    def open_action(self) -> Action | None:
        """Return the first action that has no observation."""
        return None if self.position is None else self.actions[self.position]

    @property
    def is_observed(self) -> bool:
        """Tell whether something was done, and nothing is left to be observed."""
        return bool(self.actions) and self.position is None

    @property
    def observations(self) -> list[Observation]:
        """Return what came back, in the order of the actions."""
        return [action.observation for action in self.actions if action.observation is not None]

    @property
    def last_observation(self) -> Observation | None:
        """Return what came back last."""
        return self.observations[-1] if self.actions and self.observations else None

    @property
    def end(self) -> Observation | None:
        """Return the observation that ends the run."""
        return next((seen for seen in self.observations if seen.ends is not None), None)

    @property
    def has_failed(self) -> bool:
        """Tell whether failures came back, and nothing else."""
        observations = self.observations
        return bool(observations) and all(seen.error is not None for seen in observations)

    def with_calls(self, calls: Iterable[ToolCall]) -> Self:
        """Return the turn with its actions proposed."""
        return self.model_copy(update={"actions": tuple(Action(call=call) for call in calls)})

    def with_observation(self, observation: Observation, position: int | None = None) -> Self:
        """Return the turn with an action observed, the open one by itself, or without an action."""
        if (position := self.position if position is None else position) is None:
            actions = (*self.actions, Action(call=None, observation=observation))
        else:
            done = self.actions[position].model_copy(update={"observation": observation})
            actions = (*self.actions[:position], done, *self.actions[position + 1 :])
        return self.model_copy(update={"actions": actions})


class Exchange(Value):
    """An earlier question and its answer; `plan` is what a run that asked back had still to do."""

    question: str
    answer: str
    plan: dict[str, Any] | None = None


STOPPED_BY_ASKER = "Stopped by you."
"""What a run says that ends because whoever asked wants it to."""


class Status(StrEnum):
    """How a run ended. Running out of turns or time is never success."""

    SUCCEEDED = "succeeded"
    EXHAUSTED = "exhausted"
    STOPPED = "stopped"
    FAILED = "failed"


class Outcome(Value):
    """How a run ended, the best answer it has, and one line for the person who asked.

    `partial` marks an answer given without having finished the work.
    """

    status: Status
    reason: EndReason
    answer: str = ""
    partial: bool = False
    message: str = ""


class Role(StrEnum):
    """Who speaks in a message to a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_REQUEST = "tool_request"
    TOOL_RESULT = "tool_result"


class Message(Value):
    """One message of a model request, in no provider's dialect.

    A TOOL_REQUEST is a call that the model asked for, with what it said before; a TOOL_RESULT names
    the same call and id, and its content is what came of it. `kept` is what the server wants back.
    """

    role: Role
    content: str
    images: tuple[Image, ...] = ()
    call: ToolCall | None = None
    call_id: str = ""
    kept: tuple[dict[str, Any], ...] = ()

    @model_validator(mode="after")
    def _names_its_call(self) -> Self:
        is_of_a_tool = self.role in (Role.TOOL_REQUEST, Role.TOOL_RESULT)
        if is_of_a_tool != (self.call is not None) or is_of_a_tool != bool(self.call_id):
            raise ValueError("A tool's message names its call and its id, and no other does.")
        return self


class Usage(Value):
    """Tokens of one call as the server counted, if it did; the last two are part of the others."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


COMPLETE_STOPS = frozenset({"stop", "tool_calls", "enough", ""})
"""Why a whole reply ends: `enough` was cut off by who reads it, "" says a server that is done."""


class Purpose(StrEnum):
    """What a model call is for; it is stored, and a run that resumes goes by it."""

    THINK = "think"
    STEP = "step"
    FINAL = "final"
    REPAIR = "repair"
    CHOOSE_TOOL = "choose_tool"
    FILL_INPUTS = "fill_inputs"
    WORK = "work"
    PLAN = "plan"
    PLAN_STEPS = "plan_steps"
    PLAN_AGAIN = "plan_again"
    PLAN_GOALS = "plan_goals"
    ADAPT_PLAN = "adapt_plan"
    SETTLE_GOAL = "settle_goal"
    SOLVE = "solve"
    SYNTHESIZE = "synthesize"
    REFLECT = "reflect"
    LEARN = "learn"
    SUMMARIZE = "summarize"


class ModelCall(Value):
    """The exact record of one call to a model, written whether it went well or not.

    `request` is the body as it was posted. Times are seconds; `started_at` is Unix time.
    `error` is empty when the reply is complete; `address` where no server was asked.
    """

    purpose: str
    provider: str
    address: str = ""
    model: str
    request: str
    reply: str
    reasoning: str = ""
    usage: Usage = Usage()
    stop_reason: str = ""
    started_at: float
    first_token_seconds: float | None = None
    seconds: float
    error: str = ""

    @property
    def is_cut(self) -> bool:
        """Tell whether the reply ends before it was complete, as by the limit of length."""
        return self.stop_reason not in COMPLETE_STOPS
