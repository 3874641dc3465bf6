"""FlyBrowser's structured replies: read in any shape, checked, and mended where they are short."""

import json
from collections.abc import Callable
from typing import Any

from agents.reading.structured.fields import clamped_confidence, complaints, mended_shorthand
from agents.reading.structured.parse import Structured, parse_structured

Case = dict[str, Any]

KNOWN = frozenset(
    {
        *("click", "navigate", "type_text", "scroll", "screenshot", "extract_text", "wait"),
        *("get_page_state", "go_back", "go_forward", "refresh", "hover", "select_option"),
        *("press_key", "evaluate_js", "fill_form", "extract_table", "extract_links"),
    }
)
"""The tools that are known as shorthand."""

EMPTY_RATIONALE = "a thought tells the branch that is taken, and no rationale where none was given"


def check_reply(case: Case) -> str | None:
    """Read the reply; one that upstream rejects may be read, if nothing in it is made up."""
    reply = parse_structured(case["input"], KNOWN)
    got = _told(reply)
    if got == case["expected"]:
        return None
    if case["class"] == "reject" and got["success"]:
        assert _is_in(reply.thought, case["input"]), got
        assert _is_in(reply.tool, case["input"]), got
        for value in reply.parameters.values():
            assert _is_in(value if isinstance(value, str) else json.dumps(value), case["input"])
        return None
    expected = case["expected"]
    if "tree_of_thoughts" in case["input"] and got["thought"] is not None:
        told = str(expected["thought"]).removesuffix("\nSelection Rationale: ").strip()
        assert told in got["thought"], got
        assert got == {**expected, "thought": got["thought"]}, got
        return EMPTY_RATIONALE
    assert got == expected, f"got {got}, expected {expected}"
    return None


def check_messages(case: Case) -> str | None:
    """Say what is wrong with a reply, word for word."""
    found, expected = complaints(case["input"]), case["expected"]
    assert found == expected["errors"], found
    assert (not found) == expected["valid"]
    return None


def check_shorthand(case: Case) -> str | None:
    """Put a shorthand right without asking a model."""
    mended = mended_shorthand(case["input"], KNOWN)
    for name, value in case["expected"].items():
        assert mended[name] == value, mended
    return None


def check_confidence(case: Case) -> str | None:
    """Hold a confidence between 0 and 1."""
    got = clamped_confidence({"confidence": case["input"]})
    assert got == case["expected"], got
    return None


def _told(reply: Structured) -> dict[str, Any]:
    action = None if reply.tool is None else {"tool": reply.tool, "parameters": reply.parameters}
    return {
        "success": reply.error is None,
        "format": reply.format,
        "confidence": reply.confidence,
        "thought": reply.thought,
        "thought_confidence": reply.thought_confidence,
        "action": action,
        "error": reply.error,
    }


def _is_in(value: str | None, text: str) -> bool:
    return value is None or value in text


AREAS: dict[str, Callable[[Case], str | None]] = {
    "multi-format response parser": check_reply,
    "REACT_RESPONSE_SCHEMA validation messages": check_messages,
    "shorthand auto-fix before repair": check_shorthand,
    "Thought.confidence": check_confidence,
}
