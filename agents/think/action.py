"""Think aloud, and then write one action as JSON, or the final answer between markers."""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from agents.contracts import Message, Observation, Purpose, Thought, ThoughtKind
from agents.errors import ErrorKind
from agents.events import AnswerDelta, Event, ThoughtCompleted
from agents.model.model import Model
from agents.prompting.prompts import conversation, enclosed, render
from agents.prompting.scratchpad import json_scratchpad
from agents.reading.action_reply import ActionReader
from agents.reading.markup.answer_reply import AnswerReader
from agents.reading.markup.complaint import no_step, why_unread
from agents.reading.markup.conclusion import Reading
from agents.state import State
from agents.text import CUT_SHORT
from agents.think.reply import (
    DROPPED,
    calls_of,
    has_unread_inputs,
    read_step,
    unread,
)
from agents.tools.toolkit import Toolkit

_NUDGE = (
    "You have tools for this. Look at their list again and call the one that helps; only when none "
    "does, give that as your final answer."
)
_REFUSAL = re.compile(
    r"\b(?:can(?:not|['\u2019]?t)|(?:am|['\u2019]m) (?:not able|unable) to|no access to"
    r"|do(?:n['\u2019]t| not) have (?:the )?(?:access|ability|tools?|means))\b",
    re.IGNORECASE,
)
_REFUSAL_LENGTH = 600
_FORM = (
    'End a reply with one action, as `Action: {"tool": "...", "inputs": {...}}`, or with '
    "`Final Answer: ` and the answer."
)


@dataclass(frozen=True)
class ActionThink:
    """Ask for the next action or the answer; a reply that is neither forces one final call.

    `has_markers` asks for the answer between markers, else behind a label, for models that lose
    markers; both are read either way.
    """

    model: Model
    toolkit: Toolkit
    has_markers: bool = True

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the thought and the answer as they come, then what they add up to."""
        messages = self._messages(state)
        reading, is_cut = yield from read_action_step(
            self.model, self.toolkit, messages, purpose=Purpose.THINK
        )
        node = concluded(reading, self.toolkit, cut=is_cut)
        if node is None and self._refuses(reading.thought, state):
            node = Thought(kind=ThoughtKind.THOUGHT, text=reading.thought)
        if node is None and reading.prose and _is_nudged(state):
            answer = reading.prose + (CUT_SHORT if is_cut else "")
            yield AnswerDelta(text=answer)
            node = Thought(kind=ThoughtKind.FINAL, text="", answer=answer)
        if node is None:
            node = yield from self._final(state, reading)
        yield ThoughtCompleted(node=node)

    def _messages(self, state: State) -> list[Message]:
        rules = render(
            "self_repair/rules", tools=self.toolkit.describe(), has_markers=self.has_markers
        )
        return conversation(rules, state, question_and_work(state))

    def _refuses(self, thought: str, state: State) -> bool:
        """Tell a model that gives up before it tried a tool; it is nudged once."""
        return bool(len(state.turns) == 1 and self.toolkit.tools and is_refusal(thought))

    def _final(self, state: State, first: Reading) -> Generator[Event, None, Thought]:
        """Ask once for nothing but the answer; without one, what was said before is the answer."""
        cooler = max(0.2, (self.model.temperature or 0.0) - 0.3)
        model = replace(self.model, temperature=cooler)
        work = f"{question_and_work(state)}{first.thought}\n\nFinal Answer: "
        messages = conversation(render("self_repair/final"), state, work)
        reader = AnswerReader(
            lambda text: AnswerDelta(text=text),
            known=self.toolkit.knows,
            thinks_first=model.asked(Purpose.FINAL).provider.thinks_first,
        )
        call = yield from model.read(reader, messages, purpose=Purpose.FINAL)
        answer = reader.said.text
        if not answer and not reader.has_call and first.prose:
            answer = first.prose
            yield AnswerDelta(text=answer)
        if not answer:
            return Thought(kind=ThoughtKind.THOUGHT, text=first.thought)
        if call.is_cut:
            answer += CUT_SHORT
            yield AnswerDelta(text=CUT_SHORT)
        dropped = {DROPPED: True} if reader.has_call else None
        return Thought(kind=ThoughtKind.FINAL, text=first.thought, answer=answer, plan=dropped)


def question_and_work(state: State) -> str:
    """Write the question verbatim and the steps so far, up to where the model goes on."""
    return f"Question:\n{enclosed('question', state.goal)}\n{json_scratchpad(state)}"


def read_action_step(
    model: Model, toolkit: Toolkit, messages: Sequence[Message], *, purpose: Purpose
) -> Generator[Event, None, tuple[Reading, bool]]:
    """Yield what a reply of one step shows; return it, and whether it was cut short."""
    reading, call = yield from read_step(model, toolkit, ActionReader, messages, purpose=purpose)
    answer = reading.answer + (CUT_SHORT if call.is_cut else "") if reading.answer else ""
    if shown := reading.unshown(answer):
        yield AnswerDelta(text=shown)
    return reading, call.is_cut


def concluded(reading: Reading, toolkit: Toolkit, *, cut: bool) -> Thought | None:
    """Return what a reply comes to, None for neither an action nor an answer.

    What was meant for an action and cannot be read is a thought, which `complaint` answers.
    """
    if reading.answer:
        answer = reading.answer + (CUT_SHORT if cut else "")
        return Thought(kind=ThoughtKind.FINAL, text=reading.thought, answer=answer)
    if reading.actions and not (reading.broken and has_unread_inputs(reading.actions, toolkit)):
        calls = calls_of(reading.actions, toolkit)
        return Thought(kind=ThoughtKind.ACTION, text=reading.thought, calls=calls)
    return unread(reading) if reading.broken or reading.error else None


def complaint(thought: str) -> Observation:
    """Say to a thought without an action what is wrong with it, from its text alone."""
    if problem := why_unread(thought):
        return Observation(text=problem, error=ErrorKind.PARSE_ERROR)
    if is_refusal(thought):
        return Observation(text=_NUDGE)
    return Observation(text=no_step(thought, _FORM), error=ErrorKind.PARSE_ERROR)


def is_refusal(thought: str) -> bool:
    """Tell whether a thought says in a few words that the model cannot do what is asked."""
    return len(thought) <= _REFUSAL_LENGTH and _REFUSAL.search(thought) is not None


def _is_nudged(state: State) -> bool:
    """Tell whether the turn before was a refusal, to which the model was shown its tools."""
    before = state.turns[-2].last_observation if len(state.turns) > 1 else None
    return before is not None and before.text == _NUDGE
