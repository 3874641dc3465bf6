"""Act on a plain-language instruction: search a tool, choose it, fill its inputs, call it.

Only the tools that a step may need are ever in a prompt, so the catalogue can be of any size.
"""

import json
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from agents.act.run_action import next_action, run_actions
from agents.contracts import Message, Observation, Purpose, Role, ToolCall
from agents.errors import InvalidInputs, ParseError, Recoverable, ToolSelectionError
from agents.events import Event, ModelCalled, Observed
from agents.history.fruitless import MOST, fills, fruitless_calls
from agents.model.model import Model
from agents.prompting.prompts import (
    conversation,
    enclosed,
    enclosed_goal,
    goal_and_transcript,
    render,
)
from agents.reading.markup.loose_json import read_loosely
from agents.reading.structured.choice import read_choice
from agents.reading.structured.schema import inputs_schema
from agents.reading.thinking import part_thinking
from agents.state import State
from agents.tools.fitting import fit_inputs
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit

_CANDIDATES = 15
_CHOICE_AND_INPUTS = 2
_NO_CALL_LEFT = (
    "Too many steps came to nothing, so no tool was looked for. Answer with what is known."
)
_FAILURES = 3
_ECHO = 2_000
_NAME = 80


@dataclass(frozen=True)
class JustInTimeAct:
    """Find and call the tool for the last thought's instruction.

    `most` calls in a row may come to nothing, those of the think included; then none is made here.
    """

    model: Model
    toolkit: Toolkit
    most: int = MOST

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the calls it takes to choose, then the action and its observation."""
        turn = state.turns[-1]
        if turn.actions:
            yield from next_action(state, self.toolkit, self.model.control)
            return
        if turn.thought is not None and turn.thought.calls:
            yield from run_actions(turn.thought.calls, self.toolkit, self.model.control)
            return
        try:
            step = "" if turn.thought is None else turn.thought.text
            left = self.most - fruitless_calls(state.turns, self.most)
            if left < _CHOICE_AND_INPUTS:
                raise ToolSelectionError(_NO_CALL_LEFT)
            tool = yield from self._choose(step, state)
            inputs = yield from self._fill(tool, step, state, fills(left))
        except Recoverable as error:
            failed = Observation(text=str(error), error=error.kind)
            yield Observed(observation=failed)
        else:
            call = ToolCall(tool=tool.name, inputs=inputs)
            yield from run_actions([call], self.toolkit, self.model.control)

    def _choose(self, step: str, state: State) -> Generator[ModelCalled, None, Tool]:
        candidates = self._candidates(step, state)
        if not candidates:
            raise ToolSelectionError(f"There is no tool for step: {step}")
        asked = (
            f"{enclosed_goal(state)}\n\n"
            f"<tools>\n{self.toolkit.describe(candidates)}\n</tools>\n\n"
            f"Step:\n{enclosed('step', step)}"
        )
        messages = _only(render("implicit/choose_tool"), asked)
        reply = yield from self.model.complete(messages, purpose=Purpose.CHOOSE_TOOL)
        name = read_choice(reply, [tool.name for tool in candidates])
        if not name:
            raise ToolSelectionError(f"No suitable tool selected for step: {step}")
        found = self.toolkit.get(name) if self.toolkit.knows(name) else None
        if found is None or found not in candidates:
            raise ToolSelectionError(f"Selected tool id {name[:_NAME]!r} not in candidate list")
        return found

    def _candidates(self, step: str, state: State) -> list[Tool]:
        """Return the likely tools, without those that keep failing in this run."""
        failures = Counter(
            action.call.tool
            for turn in state.turns
            for action in turn.actions
            if action.call is not None and action.has_failed
        )
        found = self.toolkit.search(step, limit=_CANDIDATES + len(failures))
        return [tool for tool in found if failures[tool.name] < _FAILURES][:_CANDIDATES]

    def _fill(
        self, tool: Tool, step: str, state: State, tries: int
    ) -> Generator[ModelCalled, None, dict[str, Any]]:
        """Ask for the inputs; say what is wrong with them and ask again, a few times."""
        schema = json.dumps(tool.schema, ensure_ascii=False)
        wanted = (
            f"Step:\n{enclosed('step', step)}\n\n"
            f"Tool: {tool.name}\n{tool.description}\n\nSchema of the inputs:\n{schema}\n\n"
        )
        asked = goal_and_transcript(state, between=wanted)
        messages = conversation(render("implicit/fill_inputs"), state, asked)
        form = inputs_schema(tool.schema)
        for _ in range(tries - 1):
            reply = yield from self.model.complete(
                messages, purpose=Purpose.FILL_INPUTS, as_json=True, reply_schema=form
            )
            try:
                return self._read(tool, reply)
            except InvalidInputs as error:
                messages.append(Message(role=Role.ASSISTANT, content=reply[:_ECHO] or "(empty)"))
                messages.append(Message(role=Role.USER, content=f"{error} Reply with JSON only."))
        reply = yield from self.model.complete(
            messages, purpose=Purpose.FILL_INPUTS, as_json=True, reply_schema=form
        )
        return self._read(tool, reply)

    def _read(self, tool: Tool, reply: str) -> dict[str, Any]:
        fitted = fit_inputs(tool, _object(reply))
        known = {name: value for name, value in fitted.items() if name in tool.input_names}
        self.toolkit.validate(tool, known)
        return known


def _only(system: str, asked: str) -> list[Message]:
    return [
        Message(role=Role.SYSTEM, content=system),
        Message(role=Role.USER, content=asked),
    ]


def _object(reply: str) -> dict[str, Any]:
    """Return the JSON object in a reply; raises InvalidInputs when there is none."""
    said = reply if _is_object(reply) else part_thinking(reply).said
    try:
        return read_loosely(said, max(0, said.find("{"))).value
    except ParseError as error:
        raise InvalidInputs(f"The inputs must be one JSON object. {error}") from None


def _is_object(reply: str) -> bool:
    """Tell whether a reply is a JSON object and nothing else: marks in its texts are none."""
    try:
        return isinstance(json.loads(reply), dict)
    except (ValueError, RecursionError):
        return False
