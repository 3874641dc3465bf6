"""The Redis streams of the live tail: their keys, their ids, and a client for short commands."""

from typing import NamedTuple, Self

from django.conf import settings
from redis import Redis

from chat.singleton import once

KEPT_SECONDS = 600
"""How long a run's stream outlives the run."""

ABANDONED_SECONDS = 86_400
"""How long the stream of a run lives that nobody writes to and nobody ended."""

MAX_FRAMES = 10_000
"""How many frames a stream holds; who is further behind is sent what is stored."""


class StreamId(NamedTuple):
    """Where a frame stands in its run's stream: attempts count from 1, frames of one from 1.

    Frame 0 of an attempt says that the one before it is over; it shows the whole run.
    """

    attempt: int
    seq: int

    def __str__(self) -> str:
        return f"{self.attempt}-{self.seq}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `<attempt>-<seq>`; raises ValueError for anything else."""
        attempt, _, seq = text.partition("-")
        if not (attempt.isascii() and attempt.isdigit() and seq.isascii() and seq.isdigit()):
            raise ValueError(f"{text!r} is not the id of a frame.")
        return cls(int(attempt), int(seq))

    def follows(self, other: "StreamId") -> bool:
        """Tell whether nothing is missing between `other` and this.

        A new attempt breaks the line, unless nothing at all was shown before it, or the end of the
        old one was: that frame shows all that is stored.
        """
        if self.seq == 0:
            return self.attempt > other.attempt
        if self.attempt == other.attempt:
            return self.seq == other.seq + 1
        return other.attempt == 0 and self == (1, 1)


def run_key(run_id: int) -> str:
    """Return the key of a run's stream."""
    return f"run:{run_id}"


ALL_STREAMS = ("run:*", "conversation:*")
"""What every key of a stream looks like."""


def conversation_key(conversation_id: int) -> str:
    """Return the key of the stream that tells of a conversation's new runs."""
    return f"conversation:{conversation_id}"


@once
def quick_client() -> Redis:
    """Return a client that gives up within a second: for what somebody waits for, but can miss."""
    return Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)


@once
def hasty_client() -> Redis:
    """Return a client that gives up at once: for what is done while somebody queues."""
    return Redis.from_url(settings.REDIS_URL, socket_timeout=0.2, socket_connect_timeout=0.2)


@once
def client() -> Redis:
    """Return this process's client, whose commands fail within seconds when Redis is away."""
    return Redis.from_url(settings.REDIS_URL, socket_timeout=5, socket_connect_timeout=2)
