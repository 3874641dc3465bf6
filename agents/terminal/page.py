"""Write a run to a terminal while it happens: as a page to read, or one event a line."""

import json
import re
from collections.abc import Sequence
from typing import TextIO

from agents.contracts import Observation, Outcome, Status, ToolCall
from agents.events import (
    ActionsProposed,
    AnswerDelta,
    Event,
    ObservationDelta,
    Observed,
    RunEnded,
    ThoughtDelta,
    TurnStarted,
)
from agents.providers.base import Provider
from agents.terminal.preview import preview

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_DIM, _BOLD, _RED, _RESET = "\x1b[2m", "\x1b[1m", "\x1b[31m", "\x1b[0m"
_SHOWN = 4_000
"""Characters of an observation that are written."""


def plain(text: str) -> str:
    """Return text without what would command the terminal, or turn its reading around."""
    return _CONTROLS.sub("", text)


class EventLines:
    """Write each event as one line of JSON."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, event: Event) -> None:
        """Write the event at once; the text is plain ASCII, so that it fits any terminal."""
        print(json.dumps(event.model_dump(mode="json")), file=self._out, flush=True)


class TerminalPage:
    """Write a run to be read: thoughts dim, actions, observations, then the answer."""

    def __init__(self, out: TextIO, *, has_colour: bool) -> None:
        self._out = out
        self._has_colour = has_colour
        self._part = ""
        self._shown = 0
        self._index = -1
        self._answer: list[str] = []

    def introduce(self, policy: str, provider: Provider) -> None:
        """Write what runs and what its model can; the demo is never taken for another one."""
        demo = " (no model: a rule-based demo)" if provider.name == "demo" else ""
        can = f" ({told})" if (told := provider.abilities.told) else ""
        self._line(f"{policy} on {provider.name} {provider.model}{demo}{can}", _DIM)

    def show(self, event: Event) -> None:
        """Write what the event adds to the page, at once."""
        match event:
            case TurnStarted(index=index):
                self._start(index)
            case ThoughtDelta(text=text):
                self._add("thought", text, _DIM)
            case AnswerDelta(text=text):
                self._answer.append(text)
                self._add("answer", text)
            case ActionsProposed(calls=calls):
                self._propose(calls)
            case ObservationDelta(text=text):
                self._observe(text)
            case Observed(observation=observation):
                self._observed(observation)
            case RunEnded(outcome=outcome):
                self._end(outcome)

    def _start(self, index: int) -> None:
        self._close()
        self._answer.clear()
        again = " again: the model's reply broke off" if index == self._index else ""
        self._index = index
        self._line(f"\nTurn {index + 1}{again}", _BOLD)

    def _propose(self, calls: Sequence[ToolCall]) -> None:
        self._close()
        self._shown = 0
        for call in calls:
            inputs = json.dumps(preview(call.inputs), ensure_ascii=False)
            self._line(f"> {call.tool} {inputs}", _BOLD)

    def _observe(self, text: str) -> None:
        head = text[: max(0, _SHOWN - self._shown)]
        self._shown += len(text)
        if head:
            self._add("observation", head)

    def _observed(self, observation: Observation) -> None:
        self._observe(observation.text[self._shown :])
        hidden = self._shown - _SHOWN
        self._close()
        if observation.error is not None:
            self._line(f"[{observation.error}]", _RED)
        if hidden > 0:
            self._line(f"[{hidden:,} more characters]", _DIM)
        self._shown = 0

    def _end(self, outcome: Outcome) -> None:
        self._close()
        if outcome.answer and outcome.answer != "".join(self._answer):
            self._add("answer", outcome.answer)
            self._close()
        if outcome.status is not Status.SUCCEEDED or outcome.partial:
            mark = ", with a partial answer" if outcome.partial else ""
            self._line(f"\n{outcome.status.capitalize()}{mark}. {outcome.message}", _RED)

    def _add(self, part: str, text: str, style: str = "") -> None:
        if self._part != part:
            self._close()
            if part == "answer":
                self._out.write("\n")
        self._part = part
        self._write(plain(text), style)

    def _close(self) -> None:
        if self._part:
            self._out.write("\n")
            self._part = ""

    def _line(self, text: str, style: str = "") -> None:
        self._write(plain(text), style)
        self._out.write("\n")
        self._out.flush()

    def _write(self, text: str, style: str) -> None:
        self._out.write(f"{style}{text}{_RESET}" if style and self._has_colour else text)
        self._out.flush()
