"""The frames of the live protocol that a page is sent (docs/protocol.md).

Events travel from the worker to the browser as text that nobody parses on the way.
"""

import json
from collections.abc import Sequence
from typing import Literal
from uuid import UUID

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
