"""A request that is longer than its model can take, told from the words of its server."""

import re
from typing import NamedTuple

_N = r"(\d[\d,._]{0,15})"
_SAYS = re.compile(
    r"context_length_exceeded|exceed_context_size|context_window_exceeded"
    r"|prompt is too long|input is too long for|maximum context length|maximum prompt length"
    r"|exceeds? (?:the )?(?:available |maximum |model'?s? )?context"
    r"|too large for model with|longer than the (?:maximum model|model'?s? context) length"
    r"|input token count.{0,40}exceeds the maximum|context the overflows"
    r"|tokens` must be <=|reduce the length of the (?:messages|input|prompt)",
    re.IGNORECASE,
)
_LENGTHS = (
    rf"\"n_ctx\"\s*:\s*{_N}",
    rf"maximum (?:context|prompt) length (?:is|of) {_N}",
    rf"> {_N}(?: maximum)?",
    rf"maximum number of tokens allowed \({_N}\)",
    rf"model with {_N} maximum context",
    rf"maximum model length of {_N}",
    rf"context length of (?:only )?{_N}",
    rf"available context size \({_N}",
    rf"must be <= {_N}",
)


class Overflow(NamedTuple):
    """How many tokens the model takes, as its server says; None where it does not."""

    length: int | None


def overflow_in(body: str) -> Overflow | None:
    """Return what the body of an error says of an overflow, None where it is about another."""
    if _SAYS.search(body) is None:
        return None
    found = (re.search(pattern, body, re.IGNORECASE) for pattern in _LENGTHS)
    named = next((match[1] for match in found if match), "")
    digits = re.sub(r"\D", "", named)
    return Overflow(int(digits) if digits else None)
