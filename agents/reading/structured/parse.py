"""Read a structured reply: a thought and one action, however the model writes them.

First as JSON {thought, action: {tool, parameters}, confidence}, then as XML tags, then as plain
language. Fences, words around, `<think>`, trailing commas, half objects, other names of the same
fields and shorthand are read; what is not there is not made up. No text raises, and the cost of
reading grows with its length alone.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from agents.contracts import Value
from agents.errors import ParseError
from agents.reading.json_repair import read_object
from agents.reading.structured.fields import (
    clamped_confidence,
    is_no_action,
    mended_shorthand,
    named_action,
    says_complete,
    stated_result,
)
from agents.reading.structured.prose import read_prose
from agents.reading.structured.tags import read_tags
from agents.reading.structured.tree import read_tree
from agents.reading.thinking import THINK_MARK, part_thinking
from agents.text import storable

Format = Literal["json", "xml", "natural", "unknown"]

_CERTAIN, _PARTIAL = 0.95, 0.7
_THOUGHTS = ("thought", "thinking", "reasoning")
_SAID = ("content", "text", *_THOUGHTS)
_FENCE = re.compile(r"```[\w+-]{0,20}[ \t]*\r?\n?")
_BRACE = re.compile(r"\{")
_OBJECTS = 8
"""Braces at which an object is looked for; each costs one pass over the text."""


class Structured(Value):
    """What a reply says; without a thought and a tool it could not be read, and `error` says why.

    `confidence` is how certain the reading is, `thought_confidence` what the model says of its
    thought. `is_half` marks an object that broke off within a text, which is not to be acted on.
    `is_complete` is what a reply says of the whole work, with `result` beside the action.
    """

    format: Format = "unknown"
    thought: str | None = None
    tool: str | None = None
    parameters: dict[str, Any] = {}
    confidence: float = 0.0
    thought_confidence: float | None = None
    value: dict[str, Any] | None = None
    is_half: bool = False
    is_complete: bool = False
    result: Any = None
    error: str | None = None


def parse_structured(text: str, tools: Collection[str] = ()) -> Structured:
    """Return what a reply says; `tools` are the names known as shorthand for an action."""
    text = storable(text)
    if not text.strip():
        return Structured(error="Empty response content")
    start = _begin_of_object(text)
    thoughts, said = part_thinking(text[:start])
    bare = _unfenced(said + text[start:])
    found = _from_json(bare, tools) or _from_tags(bare) or _from_prose(bare)
    if found is None:
        return Structured(thought=None, error="Failed to parse response: ")
    if found.thought is None and thoughts:
        return found.model_copy(update={"thought": thoughts, "thought_confidence": 0.8})
    return found


def _begin_of_object(text: str) -> int:
    """Return where the first object begins that is not thought; a mark in it is a part of it."""
    if text.lstrip().startswith("{"):
        return 0
    marks = list(THINK_MARK.finditer(text))
    depth, at = (1 if marks and marks[0][1] else 0), 0
    for mark in marks:
        brace = text.find("{", at, mark.start()) if depth == 0 else -1
        if brace >= 0:
            return brace
        depth = max(0, depth - 1) if mark[1] else depth + 1
        at = mark.end()
    brace = text.find("{", at) if depth == 0 else -1
    return len(text) if brace < 0 else brace


class _Found(NamedTuple):
    value: dict[str, Any]
    is_half: bool


def _from_json(text: str, tools: Collection[str]) -> Structured | None:
    if text.startswith("["):
        return None
    for brace in _first_braces(text):
        found = _object(text, brace)
        if found is None:
            continue
        read = _from_object(found.value, tools)
        if read is not None:
            return read.model_copy(update={"is_half": found.is_half})
    return None


def _first_braces(text: str) -> list[int]:
    braces: list[int] = []
    for mark in _BRACE.finditer(text):
        braces.append(mark.start())
        if len(braces) == _OBJECTS:
            break
    return braces


def _object(text: str, start: int) -> _Found | None:
    """Return the object at a brace, also where it breaks off within a text."""
    for is_half, written in ((False, text), (True, f'{text}"')):
        try:
            return _Found(read_object(written, start).value, is_half)
        except ParseError:
            continue
    return None


def _from_object(value: dict[str, Any], tools: Collection[str]) -> Structured | None:
    tree = value.get("tree_of_thoughts")
    branch = read_tree(tree) if isinstance(tree, Mapping) else None
    thought = _thought(value) if branch is None else branch.thought
    mended = mended_shorthand(value, tools)
    action = named_action(mended.get("action")) or (None if branch is None else branch.action)
    is_complete = says_complete(value)
    if is_complete and action is not None and is_no_action(action):
        action = None
    if thought is None and action is None and not is_complete:
        return None
    source = value if branch is None else {"confidence": branch.confidence}
    return Structured(
        format="json",
        thought=thought,
        tool=None if action is None else action.tool,
        parameters={} if action is None else action.parameters,
        confidence=_PARTIAL if thought is None or action is None else _CERTAIN,
        thought_confidence=None if thought is None else clamped_confidence(source),
        value=mended,
        is_complete=is_complete,
        result=stated_result(value) if is_complete else None,
    )


def _thought(value: Mapping[str, Any]) -> str | None:
    found = next((value[name] for name in _THOUGHTS if value.get(name)), None)
    if isinstance(found, Mapping):
        found = next((found[name] for name in _SAID if found.get(name)), None)
    if isinstance(found, list):
        found = "\n".join(str(line) for line in found)
    return str(found).strip() or None if found is not None else None


def _from_tags(text: str) -> Structured | None:
    thought, action = read_tags(text)
    if thought is None and action is None:
        return None
    return Structured(
        format="xml",
        thought=thought,
        tool=None if action is None else action.tool,
        parameters={} if action is None else action.parameters,
        confidence=0.6 if thought is None or action is None else 0.9,
        thought_confidence=None if thought is None else 0.8,
    )


def _from_prose(text: str) -> Structured | None:
    said = read_prose(text)
    if said.thought is None and said.action is None:
        return None
    whole = said.thought is not None and said.action is not None
    return Structured(
        format="natural",
        thought=said.thought,
        tool=None if said.action is None else said.action.tool,
        parameters={} if said.action is None else said.action.parameters,
        confidence=0.6 if whole else 0.4,
        thought_confidence=None if said.thought is None else said.confidence,
    )


def _unfenced(text: str) -> str:
    """Return what the first fence encloses, else the text."""
    opening = _FENCE.search(text)
    if opening is None:
        return text.strip()
    brace = text.find("{")
    if 0 <= brace < opening.start():
        return text.strip()  # the fence stands inside an object's text
    closing = text.find("\n```", opening.end())
    closing = text.find("```", opening.end()) if closing < 0 else closing
    inner = text[opening.end() : len(text) if closing < 0 else closing].strip()
    return inner or text.strip()
