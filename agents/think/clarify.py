"""Settle what is asked before work begins: "do it again" becomes a goal that stands on its own.

What cannot be known from the conversation is asked back. An unreadable reply changes nothing.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from agents.contracts import Purpose, Thought, ThoughtKind, Turn
from agents.events import AnswerDelta, Event, ThoughtCompleted, ThoughtDelta
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed_goal, render
from agents.reading.structured.schema import SETTLED
from agents.reading.thinking import part_thinking
from agents.state import State
from agents.text import storable, unfenced

_KEY = "settled_goal"
AS_ASKED = "The question can be understood as it was asked."
UNREADABLE = "Whether the question is clear could not be read, so it stands as it was asked."
UNCLEAR = "It cannot be known what is meant."


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class ClarifyThink:
    """Think the first turn: yield the goal as it is meant, or a question back as the answer.

    `zone` is the asker's, for words such as "tomorrow".
    """

    model: Model
    zone: tzinfo = UTC
    now: Callable[[], datetime] = _now

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the call, and the node whose plan holds the goal."""
        now = self.now().astimezone(self.zone)
        rules = render(
            "settle_goal/rules",
            now=now.isoformat(timespec="seconds"),
            weekday=f"{now:%A}",
            offset=f"{now:%z}",
        )
        messages = conversation(rules, state, enclosed_goal(state))
        reply = yield from self.model.complete(
            messages, purpose=Purpose.SETTLE_GOAL, as_json=True, reply_schema=SETTLED
        )
        node = _node(reply, state.goal)
        yield ThoughtDelta(text=node.text)
        if node.answer:
            yield AnswerDelta(text=node.answer)
        yield ThoughtCompleted(node=node)


def settled_goal(turn: Turn) -> str | None:
    """Return the goal that a turn settled, None if it settled none."""
    plan = None if turn.thought is None else turn.thought.plan
    goal = None if plan is None else plan.get(_KEY)
    return goal if isinstance(goal, str) else None


def _node(reply: str, goal: str) -> Thought:
    found = _object(reply)
    revised, question = (
        _text(found, "revised_goal"),
        _text(found, "clarification_question"),
    )
    if revised and revised != goal.strip():
        text = f"This is meant: {revised}"
        return Thought(kind=ThoughtKind.THOUGHT, text=text, plan={_KEY: revised})
    if question and not revised:
        kept = {_KEY: goal}
        return Thought(kind=ThoughtKind.FINAL, text=UNCLEAR, answer=question, plan=kept)
    text = UNREADABLE if found is None else AS_ASKED
    return Thought(kind=ThoughtKind.THOUGHT, text=text, plan={_KEY: goal})


def _object(reply: str) -> dict[str, Any] | None:
    said = unfenced(part_thinking(storable(reply)).said)
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(said, max(0, said.find("{")))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(found: dict[str, Any] | None, name: str) -> str:
    value = (found or {}).get(name)
    return value.strip() if isinstance(value, str) else ""
