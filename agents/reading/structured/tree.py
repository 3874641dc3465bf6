"""Read a tree of thoughts: several branches, of which one is taken."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from agents.reading.structured.fields import NamedAction, clamped_confidence

_URL = re.compile(r"https?://[^\s\"'<>]{1,2000}")
_SELECTOR = re.compile(r"(?<!\S)[#.][A-Za-z][\w-]{0,200}")
_TOUCHES = frozenset({"click", "hover", "type", "type_text", "extract_text"})
_OPENS_PAGES = frozenset({"navigate", "goto", "open", "http_get"})


class Branch(NamedTuple):
    """The branch that is taken: its reasoning, the action it needs, how certain it is."""

    thought: str | None
    action: NamedAction | None
    confidence: float


def read_tree(tree: Mapping[str, Any]) -> Branch:
    """Return the selected branch, else the one with the highest score.

    Its action is the first of `tools_needed`, with no parameters but the address or the selector
    that the branch itself names, for a tool that takes one.
    """
    given = tree.get("branches")
    branches = [b for b in given if isinstance(b, Mapping)] if isinstance(given, list) else []
    chosen = _chosen(branches, tree.get("selected_branch"))
    rationale = tree.get("selection_rationale")
    thought = [] if chosen is None else [_told(chosen)]
    if isinstance(rationale, str):
        thought.append(f"Selection Rationale: {rationale}")
    return Branch(
        "\n".join(thought) or None,
        None if chosen is None else _action(chosen),
        clamped_confidence(tree),
    )


def _chosen(branches: list[Mapping[str, Any]], selected: object) -> Mapping[str, Any] | None:
    named = (b for b in branches if selected is not None and b.get("branch_id") == selected)
    found = next(named, None)
    if found is not None or not branches:
        return found
    return max(branches, key=_score)


def _score(branch: Mapping[str, Any]) -> float:
    found = next((branch[name] for name in ("overall_score", "score") if name in branch), 0)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number else 0.0


def _told(branch: Mapping[str, Any]) -> str:
    name, strategy = branch.get("branch_id", ""), branch.get("strategy", "unknown")
    reasoning = branch.get("reasoning") or branch.get("thought") or "no reasoning"
    return f"Selected Branch {name}: {strategy} - {reasoning}"


def _action(branch: Mapping[str, Any]) -> NamedAction | None:
    needed = branch.get("tools_needed")
    first = needed[0] if isinstance(needed, list) and needed else needed
    if not isinstance(first, str) or not first.strip():
        return None
    tool = first.strip()
    parameters = branch.get("parameters")
    if isinstance(parameters, Mapping):
        return NamedAction(tool, dict(parameters))
    said = f"{branch.get('strategy', '')} {branch.get('reasoning', '')}"
    address = _URL.search(said) if tool in _OPENS_PAGES else None
    if address is not None:
        return NamedAction(tool, {"url": address[0].rstrip(".,;)")})
    selector = _SELECTOR.search(said) if tool in _TOUCHES else None
    return NamedAction(tool, {} if selector is None else {"selector": selector[0]})
