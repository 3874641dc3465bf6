"""Hold every policy to what its model takes: each part is told a run that leaves room to reply.

The state itself stays whole: what is recorded, decided and read on is never shortened.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from agents.errors import ContextOverflow
from agents.events import Event, ModelCalled
from agents.model.model import Model
from agents.model.tokens import BYTES_PER_TOKEN, tokens
from agents.policy import Policy
from agents.prompting.compaction import Compaction, Room, has_excerpts, history_cost
from agents.providers.base import REPLY_SHARE
from agents.state import State
from agents.tools.read_more import read_more_tool
from agents.tools.toolkit import Toolkit

ASSUMED = 128_000
"""The tokens that a model is taken to take whose server does not say it."""
RULES = 1_500
"""The tokens of a policy's own words, beside its tools."""
HISTORY_SHARE = 4
"""Of what is left for them, the earlier exchanges get the fourth part, the steps the rest."""
_READ_SHARE = 0.6
"""Of the share of a turn, what one call of `read_more` gives: digits and marks count as well."""


class Window:
    """What one run's model takes, and what of the run it is told.

    Each overflow halves the room: a server may count otherwise than is reckoned here.
    """

    def __init__(self, model: Model, toolkit: Toolkit, *, reads_on: bool) -> None:
        self._model, self._toolkit, self._reads_on = model, toolkit, reads_on
        self._halvings = 0
        self._fixed: tuple[tuple[str, ...], int] = (), 0
        self._with_tool = Compaction(reads_on=True)
        self._alone = Compaction()
        self._whole: State | None = None
        self._tool = read_more_tool(self._result, self._read_size)
        self._room = Room(0, 0)

    def told(self, state: State, *, reads_on: bool) -> State:
        """Return the state itself where all of it fits, else one that is told more compactly."""
        self._whole = state
        self._room = room = self._room_for(state)
        may_read = reads_on and self._reads_on
        compaction = self._with_tool if may_read else self._alone
        if compaction.fits(state, room):
            return state
        compact = compaction(state, room)
        if may_read and has_excerpts(compact):
            self._offer()
        return compact

    def halve(self) -> None:
        """Tell less from now on."""
        self._halvings += 1

    def _offer(self) -> None:
        if not self._toolkit.knows(self._tool.name):
            self._toolkit.register(self._tool)

    def _room_for(self, state: State) -> Room:
        length = self._length() >> self._halvings
        most = min(self._model.max_tokens or self._model.answer_tokens, length // REPLY_SHARE)
        left = length - most - self._fixed_cost() - tokens(state.goal)
        left = max(left, length // 8)
        history = min(left // HISTORY_SHARE, history_cost(state.history))
        return Room(history, left - history)

    def _length(self) -> int:
        """Return the tokens that the smallest of the run's models takes."""
        lengths = []
        for model in (self._model, *self._model.others.values()):
            model.provider.learn(self._model.control)
            if (length := model.provider.context_length) is not None:
                lengths.append(length)
        return min(lengths, default=ASSUMED)

    def _fixed_cost(self) -> int:
        """Return what the rules and the tools take; asked for at each step, so kept."""
        names = self._toolkit.names
        if not self._fixed[1] or self._fixed[0] != names:
            schemas = (json.dumps(tool.schema) + tool.description for tool in self._toolkit.tools)
            told = sum(map(tokens, schemas))
            self._fixed = names, RULES + told + tokens(self._model.instructions)
        return self._fixed[1]

    def _result(self, turn: int, action: int) -> str:
        turns = [] if self._whole is None else self._whole.turns
        found = next((one for one in turns if one.index + 1 == turn), None)
        if found is None or not (0 < action <= len(found.actions)):
            raise LookupError(f"This run has no result of action {action} of turn {turn}.")
        seen = found.actions[action - 1].observation
        if seen is None:
            raise LookupError(f"Action {action} of turn {turn} has no result yet.")
        return seen.text

    def _read_size(self) -> int:
        return max(200, int(self._room.share * _READ_SHARE * BYTES_PER_TOKEN))


@dataclass(frozen=True)
class InWindow:
    """A part of a policy that is told what fits; an overflow has it told less, once."""

    part: Callable[[State], Iterator[Event]]
    window: Window
    reads_on: bool = True

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events; raises ContextOverflow where even less is too much."""
        has_begun = False
        try:
            for event in self._events(state):
                has_begun = has_begun or not isinstance(event, ModelCalled)
                yield event
            return
        except ContextOverflow:
            if has_begun:
                raise
        self.window.halve()
        yield from self._events(state)

    def _events(self, state: State) -> Iterator[Event]:
        told = self.window.told(state, reads_on=self.reads_on)
        for event in self.part(told):
            if told is not state:
                told.apply(event)
            yield event


def in_window(policy: Policy, model: Model, toolkit: Toolkit) -> Policy:
    """Return the policy with its parts held to what the model takes."""
    window = Window(model, toolkit, reads_on=policy.reads_on)
    return replace(
        policy,
        think=InWindow(policy.think, window),
        act=InWindow(policy.act, window),
        summarize=InWindow(policy.summarize, window, reads_on=False),
    )
