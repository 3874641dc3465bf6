"""The action's JSON, the text format for models without tool calls, and markers: `self_repair`."""

import contextlib
import re
from typing import Any

from agents.errors import ParseError
from agents.reading.action import read_inputs
from agents.reading.action_reply import ActionReader, ActionReply

Case = dict[str, Any]

EARLIER_WINS = (
    "an answer written after an action in the same reply was made up before the tool ran, so the "
    "action is carried out"
)
_MARKER = re.compile(r"</?__final_answer__>")

LABEL_IS_NO_ANSWER = "a label within the marks of an answer is not shown to the person"


def check_action(case: Case) -> str | None:
    """Read the reply whole and letter by letter: both say the expected action, or refuse it."""
    reply, expected = _read(case["input"]), case["expected"]
    if case["class"] == "reject":
        assert reply.action is None or _stands_in(reply.action.inputs, case["input"]), reply
        return None
    if expected is None or expected.get("tool") is None:
        assert reply.action is None, reply
        assert not reply.error or expected is None, reply
        return None
    assert reply.action is not None, reply
    found = {
        "tool": reply.action.tool,
        "inputs": reply.action.inputs,
        "final_answer": reply.action.is_final,
    }
    assert found == expected, _difference(found, expected)
    return None


def check_text(case: Case) -> str | None:
    """Read the text format and the native calls that models fall back to."""
    reply, expected = _read(case["input"]), case["expected"]
    if case["class"] == "reject":
        assert not reply.answer or reply.answer in case["input"], reply
        return None
    if expected.get("final") is not None:
        if reply.action is not None and expected["final"] in case["input"]:
            return EARLIER_WINS
        assert reply.answer == expected["final"], _difference(reply.answer, expected["final"])
    elif expected.get("input_error"):
        assert reply.action is None, reply
        assert reply.error, reply
    elif expected.get("action") is not None:
        assert reply.action is not None, reply
        found = (reply.action.tool, reply.action.inputs)
        wanted = (expected["action"], expected.get("input") or {})
        assert found == wanted, _difference(found, wanted)
    else:
        assert (reply.action, reply.answer) == (None, ""), reply
    return None


def check_inputs(case: Case) -> str | None:
    """Read an Action Input: a JSON object with anything around it, or an error."""
    expected = case["expected"]
    found: dict[str, Any] | None = None
    with contextlib.suppress(ParseError):
        found = read_inputs(case["input"])
    if found is None:
        assert expected["error"], f"refused, expected {expected!r}"
    elif case["class"] == "reject":
        assert _stands_in(found, case["input"]), found
    else:
        assert not expected["error"], _difference(found, expected)
        assert found == (expected["input"] or {}), _difference(found, expected["input"])
    return None


def check_marker(case: Case) -> str | None:
    """Stream the chunks: the answer is whole, and no part of a marker is shown."""
    asked, expected = case["input"], case["expected"]
    reader, shown = ActionReader(), list[str]()
    for chunk in asked["chunks"]:
        shown += [event.text for event in reader.feed(chunk)]
    shown += [event.text for event in reader.finish()]
    assert not _MARKER.search("".join(shown)), shown
    for name in ("user_text_contains", "answer_contains"):
        wanted = str(expected.get(name, ""))
        if wanted.removeprefix("Final Answer: ") == reader.reply.answer != wanted:
            return LABEL_IS_NO_ANSWER
        assert wanted in reader.reply.answer, reader.reply
    return None


def _read(text: str) -> ActionReply:
    replies = []
    for pieces in ([text], list(text)):
        reader = ActionReader()
        for piece in pieces:
            list(reader.feed(piece))
        list(reader.finish())
        replies.append(reader.reply)
    assert replies[0] == replies[1], f"whole {replies[0]}, letter by letter {replies[1]}"
    return replies[0]


def _stands_in(value: object, text: str) -> bool:
    """Tell whether every value that was read was written."""
    match value:
        case dict():
            return all(_stands_in(item, text) for pair in value.items() for item in pair)
        case list():
            return all(_stands_in(item, text) for item in value)
        case None:
            return "null" in text or "None" in text
        case _:
            return str(value).lower() in text.lower()


def _difference(found: object, expected: object) -> str:
    return f"{found!r}, expected {expected!r}"


AREAS = {
    "Action JSON extraction": check_action,
    "v1 text ReAct parser": check_text,
    "v1 Action Input parser": check_inputs,
    "marker in model stream": check_marker,
}
