"""What two versions of policies differ in: instructions, tools, knobs, and what a release adds."""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from chat.models import PolicyVersion

NOT_SET = "-"
MADE_OF = {
    "prompts": "The prompts of the release differ.",
    "reading": "The way in which replies are read differs.",
    "tools": "The tools' names, descriptions or schemas differ.",
}
_LISTS = ("tools", "approve")


class Line(NamedTuple):
    """A line of the instructions; `sign` is `+`, `-` or a space."""

    sign: str
    text: str

    @property
    def kind(self) -> str:
        """Name the sign for a style."""
        return {"+": "added", "-": "removed"}.get(self.sign, "kept")


class Changed(NamedTuple):
    """A knob by its place, with what it was and is."""

    place: str
    before: str
    after: str


class Members(NamedTuple):
    """What a list gained and lost."""

    name: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """What lies between two versions, in the order in which it is read."""

    instructions: tuple[Line, ...]
    lists: tuple[Members, ...]
    knobs: tuple[Changed, ...]
    made_of: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Tell whether they say and mean the same."""
        return not (self.instructions or self.lists or self.knobs or self.made_of)

    def lines(self) -> Iterator[str]:
        """Yield it for a terminal."""
        if self.is_empty:
            yield "They say the same."
        if self.instructions:
            yield "instructions:"
            yield from (f"  {line.sign} {line.text}" for line in self.instructions)
        for members in self.lists:
            yield f"{members.name}:"
            yield from (f"  + {name}" for name in members.added)
            yield from (f"  - {name}" for name in members.removed)
        for knob in self.knobs:
            yield f"{knob.place}: {knob.before} -> {knob.after}"
        yield from self.made_of


def difference(before: PolicyVersion, after: PolicyVersion) -> Difference:
    """Return what `after` says otherwise than `before`."""
    old, new = before.content, after.content
    lists = (_members(name, old.get(name) or (), new.get(name) or ()) for name in _LISTS)
    made = (before.made_of, after.made_of)
    return Difference(
        tuple(_lines(old.get("instructions", ""), new.get("instructions", ""))),
        tuple(one for one in lists if one.added or one.removed),
        tuple(_knobs(_flat(old), _flat(new))),
        tuple(words for part, words in MADE_OF.items() if _is_other(part, *made, old, new)),
    )


def _lines(old: str, new: str) -> Iterator[Line]:
    if old == new:
        return
    for line in difflib.ndiff(old.splitlines(), new.splitlines()):
        if line[0] in "+- ":
            yield Line(line[0], line[2:])


def _members(name: str, old: Any, new: Any) -> Members:
    return Members(
        name,
        tuple(one for one in new if one not in old),
        tuple(one for one in old if one not in new),
    )


def _is_other(
    part: str,
    old: Mapping[str, str],
    new: Mapping[str, str],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> bool:
    """Tell whether a release's part differs, where that does not follow from what was chosen."""
    is_chosen = {
        "tools": before.get("tools") != after.get("tools"),
        "prompts": bool(before.get("instructions")) != bool(after.get("instructions")),
    }
    of_other_base = before.get("policy") != after.get("policy")
    is_known = part in old and part in new
    return is_known and old[part] != new[part] and not (is_chosen.get(part) or of_other_base)


def _knobs(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Changed]:
    for place in [*old, *(place for place in new if place not in old)]:
        before, after = old.get(place, NOT_SET), new.get(place, NOT_SET)
        if before != after:
            yield Changed(place, before, after)


def _flat(content: Mapping[str, Any], under: str = "") -> dict[str, str]:
    """Return each knob by its place, such as `limits.max_turns`, without texts and lists."""
    found: dict[str, str] = {}
    for name, value in content.items():
        place = f"{under}.{name}" if under else name
        if isinstance(value, Mapping):
            found |= _flat(value, place)
        elif place not in ("instructions", *_LISTS):
            found[place] = value if isinstance(value, str) else json.dumps(value)
            found[place] = found[place] or NOT_SET
    return found
