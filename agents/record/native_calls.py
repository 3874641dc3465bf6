"""The native calls of a recorded reply, which stand behind its text, each in a line of JSON."""

import json
import re
from collections import deque
from typing import Any

from agents.contracts import Thought
from agents.history.native import MadeCall
from agents.providers.base import NativeCall

_LAST_LINE = re.compile(r"\n([^\n]+)\n\Z")


def parted(reply: str, thought: Thought | None) -> tuple[str, list[NativeCall]]:
    """Return the text and the calls of a reply; `thought` is what its turn has kept of it.

    Where the run was cut off before there was a turn, the calls have ids of their own.
    """
    kept = [] if thought is None else [MadeCall.model_validate(one) for one in thought.kept]
    calls: deque[dict[str, Any]] = deque()
    while thought is None or len(calls) < len(kept):
        line = _LAST_LINE.search(reply)
        if line is None or (call := _call(line[1])) is None:
            break
        calls.appendleft(call)
        reply = reply[: line.start()]
    kept = kept or [MadeCall(id=f"call_{n}") for n in range(len(calls))]
    made = zip(range(len(calls)), calls, kept, strict=False)
    return reply, [_made(n, call, its) for n, call, its in made]


def _call(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.keys() == {"tool", "inputs"} else None


def _made(index: int, call: dict[str, Any], kept: MadeCall) -> NativeCall:
    inputs = call["inputs"]
    return NativeCall(
        index=index,
        id=kept.id,
        name=str(call["tool"]),
        arguments=inputs if isinstance(inputs, str) else json.dumps(inputs),
        kept=kept.kept,
    )
