"""Tell what changed from one plan to the next: its steps by their numbers."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_STEP = re.compile(r"^[ \t]{0,20}(\d{1,4})[.)][ \t]{1,20}(\S[^\n]*)$", re.MULTILINE)


class Changes(NamedTuple):
    """The steps that are new, those that say something else, and those that are gone."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def in_words(self) -> str:
        """Return the changes in one line, empty when there are none."""
        named = [f"{how} {', '.join(steps)}" for how, steps in self._asdict().items() if steps]
        return f"Steps of the plan: {'; '.join(named)}." if named else ""


def plan_changes(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> Changes:
    """Compare two plans, each its steps by their ids; None is a plan without steps."""
    before, after = before or {}, after or {}
    return Changes(
        added=tuple(step for step in after if step not in before),
        modified=tuple(s for s in after if s in before and after[s] != before[s]),
        removed=tuple(step for step in before if step not in after),
    )


def steps_of(plan: str | None) -> dict[str, str]:
    """Return the numbered steps of a plan as it was written; of a number twice the last counts."""
    return {step[1]: step[2].rstrip() for step in _STEP.finditer(plan or "")}
