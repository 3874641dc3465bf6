"""Where model calls are stored: each request as a list of pieces, most of which are there already.

Text policies send a scratchpad again and again that only gets longer; stored whole, a run would
grow with the square of its turns.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate

from agents import contracts
from agents.text import storable
from chat.models import ModelCall, Run
from chat.request import Listed, digest_of, piece_digest
from chat.runs.record.pieces import pieces_of, shared_length


@dataclass(frozen=True)
class _Request:
    """A request that was sent: its pieces, and where in the text each ends."""

    index: int
    text: str
    digests: tuple[str, ...]
    ends: tuple[int, ...]

    def listed(self, kept: int, digests: Sequence[str]) -> Listed:
        """Return the list of a request with the first `kept` pieces of this one, then `digests`."""
        listed: Listed = [(self.index, 0, kept)] if kept else []
        places = {digest: n for n, digest in enumerate(self.digests[kept:], kept)}
        for digest in digests:
            place = places.get(digest)
            last = listed[-1] if listed else ""
            if place is None:
                listed.append(digest)
            elif not isinstance(last, str) and last[2] == place:
                listed[-1] = (self.index, last[1], place + 1)
            else:
                listed.append((self.index, place, place + 1))
        return listed


class CallLog:
    """The calls of one attempt; those of earlier attempts count on, and may share pieces."""

    def __init__(self, run: Run, stored: int) -> None:
        self._run = run
        self._next = stored
        self._last: dict[str, _Request] = {}
        self._known: set[str] = set()
        self._lengths: set[int] = set()

    def row(self, call: contracts.ModelCall, turn_index: int) -> ModelCall:
        """Return the row to store for a call; nothing is written yet."""
        request = storable(call.request)
        listed, brings = self._taken_apart(call.purpose, request)
        row = ModelCall(
            run=self._run,
            index=self._next,
            turn_index=turn_index,
            attempt=self._run.attempt,
            purpose=call.purpose,
            provider=call.provider[:40],
            model=storable(call.model)[:200],
            address=storable(call.address)[:500],
            pieces=listed,
            digest=digest_of(request),
            reply=storable(call.reply),
            reasoning=storable(call.reasoning),
            stop_reason=storable(call.stop_reason)[:40],
            error=storable(call.error),
            input_tokens=call.usage.input_tokens,
            output_tokens=call.usage.output_tokens,
            cached_tokens=call.usage.cached_tokens,
            reasoning_tokens=call.usage.reasoning_tokens,
            started_at=datetime.fromtimestamp(call.started_at, UTC),
            first_token_seconds=call.first_token_seconds,
            seconds=call.seconds,
        )
        row.brings = brings
        self._next += 1
        return row

    def _taken_apart(self, purpose: str, request: str) -> tuple[Listed, dict[str, str]]:
        """Return the list of a request's pieces, and those that this attempt has not stored yet."""
        digest = cache(piece_digest)
        before = self._last.get(purpose, _NOTHING)
        shared = shared_length(before.text, request)
        kept = bisect_right(before.ends, shared)
        start = before.ends[kept - 1] if kept else 0

        def is_known(text: str) -> bool:
            return len(text) in self._lengths and digest(text) in self._known

        texts = pieces_of(request, start, shared, is_known)
        digests = tuple(map(digest, texts))
        new = {digest(text): text for text in texts if not is_known(text)}
        self._known |= new.keys()
        self._lengths |= set(map(len, new.values()))
        ends = accumulate(map(len, texts), initial=start)
        self._last[purpose] = _Request(
            self._next,
            request,
            before.digests[:kept] + digests,
            before.ends[:kept] + tuple(ends)[1:],
        )
        return before.listed(kept, digests), new


_NOTHING = _Request(-1, "", (), ())
"""What a purpose's first request follows."""
