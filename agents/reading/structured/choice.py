"""Read which of several tools a model chose, however it writes the name."""

import re
from collections.abc import Sequence

from agents.reading.thinking import part_thinking

_LEAD = re.compile(r"^[ \t]*(?:[-*>#]+[ \t]*|\d{1,3}[.)][ \t]*)*")
_KEY = re.compile(r"[{\"' \t]*(?:tool|name|tool_name|choice|best)[\"' \t]*[:=]", re.IGNORECASE)
_SCORE = re.compile(r"[ \t]*[:=(\u2013-]+[ \t]*(?P<score>\d{1,3})(?:[ \t]*/[ \t]*100|%)?[ \t).]*\Z")
_STRAY = " \t`'\"*.,:;[](){}"
_NONE = frozenset({"none", "no tool", "null", "n/a"})
_LINES = 200


def read_choice(reply: str, names: Sequence[str]) -> str:
    """Return the name that the model chose, as it wrote it; empty for none.

    A line that is one of `names` counts, the last of several, or the one with the highest score.
    """
    lines = [line for line in part_thinking(reply).said.splitlines()[:_LINES] if line.strip()]
    known = {_plain(name): name for name in names}
    rated: list[tuple[int, str]] = []
    chosen = ""
    for line in lines:
        bare = _KEY.sub("", _LEAD.sub("", line), count=1).strip(" \t`'\"*{}")
        score = _SCORE.search(bare)
        name = known.get(_plain(bare if score is None else bare[: score.start()]))
        if name is not None and score is not None:
            rated.append((int(score["score"]), name))
        elif name is not None:
            chosen = name
    if chosen or rated:
        return chosen or max(rated, key=lambda one: one[0])[1]
    first = lines[0].strip(_STRAY) if lines else ""
    return "" if first.lower() in _NONE else first


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.strip(_STRAY).lower())
