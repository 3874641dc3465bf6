"""The frames of the live protocol: what a client may send, and what it is sent (docs/protocol.md).

Events travel from the worker to the browser as text that nobody parses on the way.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chat.stream.server_events import (
    CaughtUp,
    Closed,
    Error,
    Event,
    Heartbeat,
    RunCreated,
    RunEnded,
    RunInterrupted,
    RunQueued,
    RunSnapshot,
    RunStalled,
    ServerFrame,
    TurnShown,
)
from chat.stream.streams import StreamId

MAX_CHARACTERS = 700_000
"""The longest message a client may send: a whole question with every character escaped."""

MAX_FEEDBACK = 4_000
"""The longest word to the model that goes with the answer to an approval."""

Id = Annotated[int, Field(ge=0, lt=2**63)]


class InvalidFrame(Exception):
    """Raised for a message that is no frame of the protocol; the text is for its sender."""

    def __init__(self, code: str, message: str, client_message_id: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.client_message_id = client_message_id


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Hello(_Frame):
    """What the page shows: the cursor of each run that has not ended, and its newest run."""

    type: Literal["hello"]
    cursors: dict[Id, str] = Field(default={}, max_length=200)
    after: Id = 0


class Send(_Frame):
    """A question; sent twice under one id it is asked once."""

    type: Literal["send"]
    client_message_id: UUID
    text: str
    policy: str = Field(max_length=100)
    parent: Id | None = None


class Stop(_Frame):
    """The wish to end a run."""

    type: Literal["stop"]
    run: Id


class Approve(_Frame):
    """The answer to an approval that a run waits for; `feedback` is for the model."""

    type: Literal["approve"]
    approval: Id
    decision: Literal["grant", "deny"]
    feedback: str = Field(default="", max_length=MAX_FEEDBACK)


class Ping(_Frame):
    """A sign of life, and that everything sent so far has been read; it may ask for one back."""

    type: Literal["ping"]
    answer: bool = False


ClientFrame = Hello | Send | Stop | Approve | Ping
_CLIENT: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])


def parse(text: str | None) -> ClientFrame:
    """Read a client's message; raises InvalidFrame for anything that is not a frame."""
    if text is None:
        raise InvalidFrame("not_json", "A message must be text.")
    if len(text) > MAX_CHARACTERS:
        raise too_long()
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidFrame("not_json", "This message is not valid JSON.") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise InvalidFrame("no_type", "A message must be a JSON object with a type.")
    try:
        return _CLIENT.validate_python(message)
    except ValidationError as error:
        raise _invalid(message, error) from None


def too_long() -> InvalidFrame:
    """Return the error for a message that is longer than any question."""
    return InvalidFrame("too_long", "This message is too long to be read.")


def _invalid(message: dict[str, Any], error: ValidationError) -> InvalidFrame:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    kind = message["type"][:40]
    mine = message.get("client_message_id")
    mine = mine[:80] if isinstance(mine, str) else None
    if problem["type"] == "union_tag_invalid":
        return InvalidFrame("unknown_type", f"There is no message of the type {kind!r}.", mine)
    field = ".".join(str(part) for part in problem["loc"][1:])
    return InvalidFrame("wrong_shape", f"In a {kind} message, {field}: {problem['msg']}.", mine)


def events(run_id: int, stream_id: StreamId, payload: str) -> str:
    """Glue a frame of the stream to the run it belongs to; `payload` is JSON already."""
    return f'{{"type":"events","run":{run_id},"id":"{stream_id}","events":{payload}}}'


def run_created(run_id: int, client_message_id: UUID, html: str) -> str:
    """Tell of a new run."""
    mine = str(client_message_id)
    return encode(RunCreated(type="run.created", run=run_id, client_message_id=mine, html=html))


def run_snapshot(run_id: int, stream_id: str, html: str) -> str:
    """Show a run as it is stored, up to `stream_id`."""
    return encode(RunSnapshot(type="run.snapshot", run=run_id, id=stream_id, html=html))


def run_ended(status: str, reason: str, html: str) -> RunEnded:
    """Return the event that is the last of a run's stream; `html` is the whole run."""
    return RunEnded(type="run.ended", status=str(status), reason=str(reason), html=html)


def approval(what: Literal["requested", "decided"], index: int, html: str) -> TurnShown:
    """Return the event that a turn's action waits for a person, or does no more."""
    if what == "requested":
        return TurnShown(type="approval.requested", index=index, html=html)
    return TurnShown(type="approval.decided", index=index, html=html)


def run_interrupted(message: str, html: str) -> RunInterrupted:
    """Return the event that an attempt is over and the run will resume; `html` is the whole run."""
    return RunInterrupted(type="run.interrupted", message=message, html=html)


def run_queued(run_id: int, ahead: int | None) -> str:
    """Say how many runs are ahead of one that waits for a worker; it is no part of the stream."""
    return encode(RunQueued(type="run.queued", run=run_id, ahead=ahead))


def run_stalled(run_id: int, *, is_stalled: bool) -> str:
    """Say whether a run's worker has given no sign of life for long; no part of the stream."""
    return encode(RunStalled(type="run.stalled", run=run_id, stalled=is_stalled))


def caught_up(after: int) -> str:
    """Say that everything was sent that the page missed, all runs up to `after` among it."""
    return encode(CaughtUp(type="caught_up", after=after))


def error(code: str, message: str, client_message_id: str | None = None) -> str:
    """Tell the person what went wrong."""
    mine = client_message_id
    return encode(Error(type="error", code=code, message=message, client_message_id=mine))


def closed(code: int) -> str:
    """Say why a response without a socket ends; the codes are those of the socket."""
    return encode(Closed(type="closed", code=code))


def encode(value: ServerFrame | Sequence[Event]) -> str:
    """Write JSON as short as it gets."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


HEARTBEAT = encode(Heartbeat(type="heartbeat"))
