"""How many tokens a reply may have, as a request says it, and what servers allow of that."""

import re
from collections.abc import Iterator
from typing import Any

from agents.providers.base import REPLY_SHARE
from agents.providers.wire.overflow import overflow_in

NONE = "output tokens"
"""What is learnt of a server that knows no bound."""

_AT_MOST = f"{NONE} <= "
_FIELDS = ("max_tokens", "max_completion_tokens", "maxOutputTokens", "num_predict")
_HOLDERS = ("generationConfig", "options")
_NAMED = re.compile(rf"\b(?:{'|'.join(_FIELDS)}|completion tokens|output tokens)\b")
_N = r"[`'\"]?(\d[\d,_]{0,15})"
_ALLOWED = re.compile(
    rf"(?:at most|less than or equal to|<=|maximum(?: value)? (?:is|of)|up to|>) {{0,2}}{_N}"
    rf"|\[\d+, {{0,2}}{_N}\]|\brange\b.{{0,30}}\bto {_N}",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"unrecogni[sz]ed|unknown|unsupported|unexpected|not (?:supported|permitted|allowed)|extra",
    re.IGNORECASE,
)


def refused_bound(said: str, posted: dict[str, Any]) -> str | None:
    """Name what is to be learnt of a server that refuses the bound of a reply; None for others.

    A request that is too long together with its reply is asked for a shorter reply first.
    """
    bound = next((holder[name] for holder, name in _places(posted)), None)
    if bound is None:
        return None
    if (overflow := overflow_in(said)) is not None:
        share = (overflow.length or 0) // REPLY_SHARE
        return f"{_AT_MOST}{share}" if 0 < share < bound else None
    if _NAMED.search(said) is None:
        return None
    for match in _ALLOWED.finditer(said):
        allowed = int(re.sub(r"\D", "", next(filter(None, match.groups()))))
        if 0 < allowed < bound:
            return f"{_AT_MOST}{allowed}"
    return NONE if _UNKNOWN.search(said) else None


def is_bound(parameter: str) -> bool:
    """Tell whether what a server refuses is the bound of a reply."""
    return parameter.startswith(NONE)


def within(posted: dict[str, Any], parameter: str) -> dict[str, Any]:
    """Return what to post instead to a server that refuses the bound."""
    found = {name: _bounded(posted[name], parameter) for name in _HOLDERS if name in posted}
    return _bounded({name: found.get(name, value) for name, value in posted.items()}, parameter)


def _bounded(holder: dict[str, Any], parameter: str) -> dict[str, Any]:
    if parameter == NONE:
        return {name: value for name, value in holder.items() if name not in _FIELDS}
    most = int(parameter.removeprefix(_AT_MOST))
    return {n: min(v, most) if n in _FIELDS else v for n, v in holder.items()}


def _places(posted: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    for holder in (posted, *(posted.get(name) or {} for name in _HOLDERS)):
        yield from ((holder, name) for name in _FIELDS if name in holder)
