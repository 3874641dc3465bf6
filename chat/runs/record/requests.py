"""Where model calls are stored: each request as what it shares with the last one, and the rest.

Text policies send a scratchpad again and again that only gets longer; stored whole, a run would
grow with the square of its turns.
"""

from datetime import UTC, datetime

from agents import contracts
from agents.text import storable
from chat.models import ModelCall, Run
from chat.models.model_call import digest_of


class CallLog:
    """The calls of one attempt; those of earlier attempts count on, but share nothing."""

    def __init__(self, run: Run, stored: int) -> None:
        self._run = run
        self._next = stored
        self._bases: dict[str, tuple[ModelCall, str]] = {}

    def row(self, call: contracts.ModelCall, turn_index: int) -> ModelCall:
        """Return the row to store for a call; nothing is written yet."""
        request = storable(call.request)
        base, before = self._bases.get(call.purpose, (None, ""))
        shared = shared_length(before, request)
        row = ModelCall(
            run=self._run,
            index=self._next,
            turn_index=turn_index,
            attempt=self._run.attempt,
            purpose=call.purpose,
            provider=call.provider[:40],
            model=storable(call.model)[:200],
            base=base if shared else None,
            shared=shared,
            rest=request[shared:],
            digest=digest_of(request),
            reply=storable(call.reply),
            reasoning=storable(call.reasoning),
            stop_reason=storable(call.stop_reason)[:40],
            error=storable(call.error),
            input_tokens=call.usage.input_tokens,
            output_tokens=call.usage.output_tokens,
            started_at=datetime.fromtimestamp(call.started_at, UTC),
            first_token_seconds=call.first_token_seconds,
            seconds=call.seconds,
        )
        self._next += 1
        self._bases[call.purpose] = (row, request)
        return row


def shared_length(before: str, after: str) -> int:
    """Return how many characters two texts begin with in common, by halving."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
