"""One attempt's frames on their way to the run's stream: gathered, numbered, and bounded."""

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, TypeGuard

from agents.control import Control
from chat.stream.frames import encode
from chat.stream.server_events import Delta, Event
from chat.stream.streams import StreamId

MAX_CHARACTERS = 4_000_000
"""How much waits for Redis; beyond it the oldest frames go, and readers are sent what is stored."""

MAX_OF_ALL = 32_000_000
"""How much of all runs of a process does; then each new frame sends its run's oldest away."""

KEPT_FRAMES = 100
"""After so many frames it is said again how long their stream is kept: Redis may have lost it."""

DELTAS = frozenset({"thought.delta", "observation.delta", "answer.delta"})


@dataclass(frozen=True)
class Batch:
    """One entry of the stream: events as JSON, under an id that never changes.

    `since` is when its first event came, by the process's own clock. `keeps` tells that the stream
    may have none before it, or none after it for long.
    """

    id: StreamId
    payload: str
    ends: bool
    since: float
    keeps: bool


class Room:
    """What the channels of one process hold together, in characters."""

    def __init__(self, most: int = MAX_OF_ALL) -> None:
        self._most = most
        self._held = 0
        self._lock = threading.Lock()

    @property
    def is_full(self) -> bool:
        """Tell whether more is held than there is room for."""
        return self._held > self._most

    def add(self, characters: int) -> None:
        """Count what comes, or goes if it is negative."""
        with self._lock:
            self._held += characters


class Channel:
    """Take events from the run's thread; the publisher's thread takes them from here.

    Text of one kind that comes within one tick becomes one event.
    """

    def __init__(
        self,
        run_id: int,
        attempt: int,
        control: Control,
        dirty: threading.Event,
        room: Room | None = None,
    ) -> None:
        self.run_id = run_id
        self.attempt = attempt
        self.control = control
        self._dirty = dirty
        self._room = room or Room()
        self._lock = threading.Lock()
        self._open: list[Event] = []
        self._open_since = 0.0
        self._outbox: deque[Batch] = deque()
        self._waiting = 0
        self._seq = 0
        self._closed_at: float | None = None

    def put(self, event: Event) -> None:
        """Send an event with the next flush."""
        with self._lock:
            last: Any = self._open[-1] if self._open else None
            if last is not None and _continues(event, last):
                last["text"] += event["text"]
            else:
                if not self._open:
                    self._open_since = time.monotonic()
                self._open.append(event)
        if not self._dirty.is_set():  # else to set it costs as much as all the rest
            self._dirty.set()

    def seal(self) -> str:
        """Return the id of the frame that holds all that was put so far."""
        with self._lock:
            self._seal()
            return str(StreamId(self.attempt, self._seq))

    def reserve(self) -> str:
        """Return the id that the event of `put_reserved` will have."""
        with self._lock:
            self._seal()
            self._seq += 1
            return str(StreamId(self.attempt, self._seq))

    def put_reserved(self, reserved: str, event: Event, *, ends: bool = False) -> None:
        """Send an event under its reserved id; nothing else may be put in between."""
        with self._lock:
            stream_id = StreamId.parse(reserved)
            self._append(stream_id, [event], ends=ends, since=time.monotonic(), keeps=True)
        self._dirty.set()

    def close(self) -> None:
        """Say that nothing more will be put."""
        self._closed_at = time.monotonic()
        self._dirty.set()

    def batches(self) -> list[Batch]:
        """Return what waits, oldest first, the text of this moment included."""
        with self._lock:
            self._seal()
            return list(self._outbox)

    def delivered(self, batch: Batch) -> None:
        """Forget a batch that Redis has, and all before it."""
        with self._lock:
            while self._outbox and self._outbox[0].id <= batch.id:
                self._drop()

    def abandon(self) -> None:
        """Forget everything: another attempt writes the stream now."""
        with self._lock:
            self._open.clear()
            while self._outbox:
                self._drop()
        self.close()

    def is_dirty(self) -> bool:
        """Tell whether anything waits."""
        return bool(self._outbox or self._open)

    def is_over(self, patience: float) -> bool:
        """Tell whether the channel has done its work, or has waited `patience` seconds to."""
        closed_at = self._closed_at
        return closed_at is not None and (
            not self.is_dirty() or time.monotonic() - closed_at > patience
        )

    def _seal(self) -> None:
        if self._open:
            self._seq += 1
            stream_id = StreamId(self.attempt, self._seq)
            keeps = self._seq % KEPT_FRAMES == 1
            self._append(stream_id, self._open, ends=False, since=self._open_since, keeps=keeps)
            self._open = []

    def _append(
        self, stream_id: StreamId, events: list[Event], *, ends: bool, since: float, keeps: bool
    ) -> None:
        batch = Batch(stream_id, encode(events), ends, since, keeps)
        self._outbox.append(batch)
        self._waiting += len(batch.payload)
        self._room.add(len(batch.payload))
        while self._is_too_much() and len(self._outbox) > 1:
            self._drop()

    def _is_too_much(self) -> bool:
        return self._waiting > MAX_CHARACTERS or self._room.is_full

    def _drop(self) -> None:
        size = len(self._outbox.popleft().payload)
        self._waiting -= size
        self._room.add(-size)


def _continues(event: Event, last: Event) -> TypeGuard[Delta]:
    return (
        event["type"] in DELTAS
        and event["type"] == last["type"]
        and event.get("index") == last.get("index")
        and event.get("position") == last.get("position")
    )
