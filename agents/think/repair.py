"""Repair a step that failed: one model call that sees the error, a few times at most.

What comes back is an action like any other: it is checked, proposed and run anew, also when it
names another tool.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts import Message, Purpose, Thought, ThoughtKind, ToolCall, Turn
from agents.errors import ToolNotFound
from agents.events import Event, ThoughtCompleted, ThoughtDelta
from agents.history.retries import Retries, Retry, failed_action, failure_of
from agents.model.model import Model
from agents.policy import Think
from agents.prompting.prompts import conversation, enclosed, render
from agents.prompting.scratchpad import action_json
from agents.state import State
from agents.text import clipped
from agents.think.action import concluded, question_and_work, read_action_step
from agents.tools.toolkit import Toolkit

_ECHO = 2_000
"""Characters of a failed action, and of its error, that the repair sees."""


@dataclass(frozen=True)
class RepairThink:
    """Repair the last turn while tries are left; where no tool can, the wrapped think goes on.

    `model` is the one to repair with, usually cooler and shorter than the one that thinks.
    """

    think: Think
    model: Model
    toolkit: Toolkit
    retries: Retries

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the repaired thought after its pause, or the wrapped events."""
        retry = self.retries.due(state.turns[:-1])
        if retry is None:
            yield from self.think(state)
            return
        self.model.control.wait(retry.pause)
        messages = self._messages(state, retry)
        reading, is_cut = yield from read_action_step(
            self.model, self.toolkit, messages, purpose=Purpose.REPAIR
        )
        node = concluded(reading, self.toolkit, cut=is_cut)
        if node is None:
            yield from _after(reading.thought, self.think(state))
        else:
            yield ThoughtCompleted(node=node)

    def _messages(self, state: State, retry: Retry) -> list[Message]:
        rules = render("self_repair/repair", tools=self.toolkit.describe())
        action = failed_action(retry.failed)
        error = "" if action is None or action.observation is None else action.observation.text
        asked = (
            f"{question_and_work(state).removesuffix('Thought: ')}\n"
            f"Failed action:\n{enclosed('action', clipped(_attempted(retry.failed), _ECHO))}\n\n"
            f"Error:\n{enclosed('error', clipped(error, _ECHO))}"
        )
        return conversation(rules, state, asked)


@dataclass(frozen=True)
class RetryThink:
    """Make a failed call again as it was, where no model shall repair it and it does no harm."""

    think: Think
    model: Model
    toolkit: Toolkit
    retries: Retries

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the same action after its pause, or the wrapped events."""
        retry = self.retries.due(state.turns[:-1])
        call = None if retry is None else self._harmless(retry.failed)
        if retry is None or call is None:
            yield from self.think(state)
            return
        self.model.control.wait(retry.pause)
        text = f"Try {retry.number + 1} of the same call."
        yield ThoughtDelta(text=text)
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=text, calls=(call,)))

    def _harmless(self, failed: Turn) -> ToolCall | None:
        action = failed_action(failed)
        if action is None or action.call is None or failure_of(failed) != "tool":
            return None
        try:
            return action.call if self.toolkit.get(action.call.tool).idempotent else None
        except ToolNotFound:
            return None


def _after(said: str, events: Iterator[Event]) -> Iterator[Event]:
    """Yield a thought's events with what was said before it in front of its text."""
    between = "\n\n" if said else ""
    for event in events:
        match event:
            case ThoughtDelta(text=text):
                yield ThoughtDelta(text=between + text)
                between = ""
            case ThoughtCompleted(node=node):
                text = "\n\n".join(filter(None, [said, node.text]))
                yield ThoughtCompleted(node=node.model_copy(update={"text": text}))
            case _:
                yield event


def _attempted(failed: Turn) -> str:
    action = failed_action(failed)
    if action is not None and action.call is not None:
        return action_json(action.call)
    return "" if failed.thought is None else failed.thought.text
