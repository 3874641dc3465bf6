"""A run as its model is told of it, where all of it is more than the model takes.

Goal and plans are never touched. Of the earlier exchanges the oldest are left out; of the steps the
oldest are shortened, then told in a line each, then only counted, in leaps of a quarter: what is
told keeps its beginning from one turn to the next. What is stored stays whole.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any, NamedTuple

from agents.contracts import Action, Exchange, Turn
from agents.model.tokens import tokens
from agents.prompting.excerpt import MARK, excerpt
from agents.prompting.window import clamped
from agents.state import Excerpt, State, observed

LEFT_OUT = "(Earlier in this conversation)"
READ_ON = "read_more"
"""The name of the tool that reads on in what was left out."""
_FREED = 0.75
_KEPT = 2
"""How many of the last turns keep the inputs of their calls, for a failed one may be made again."""
_AROUND = 40
"""Tokens of the labels and marks around a step."""
_LEAST_SHARE = 200


class Room(NamedTuple):
    """The tokens that there are for the exchanges before a run, and for its steps."""

    history: int
    steps: int

    @property
    def share(self) -> int:
        """Return what the observations of one turn may take."""
        return max(_LEAST_SHARE, self.steps // 3)


class _Size(NamedTuple):
    """The tokens of a turn, and of the longest of its observations."""

    all: int
    longest: int


class _Level(IntEnum):
    WHOLE, SHORT, LINE, COUNTED = range(4)


_TOKENS = {_Level.SHORT: 200, _Level.LINE: 100, _Level.COUNTED: MARK}


class Compaction:
    """Tell one run compactly; a turn that is over is compacted once for each way to tell it.

    With `reads_on` what is left out says how the tool `read_more` gives the rest.
    """

    def __init__(self, *, reads_on: bool = False) -> None:
        self._reads_on = reads_on
        self._sizes: dict[int, tuple[Turn, _Size]] = {}
        self._told: dict[tuple[int, int, int, bool], tuple[Turn, Turn]] = {}

    def fits(self, state: State, room: Room) -> bool:
        """Tell whether the whole run may be told as it is."""
        sizes = [self._size(turn) for turn in state.turns]
        return (
            sum(size.all for size in sizes) <= room.steps
            and all(size.longest <= room.share for size in sizes)
            and history_cost(state.history) <= room.history
        )

    def __call__(self, state: State, room: Room) -> State:
        """Return the run as it is told in this room."""
        levels = self._levels(state.turns, room)
        turns = [
            self._compact(turn, level, room.share, is_last=len(state.turns) - place <= _KEPT)
            for place, (turn, level) in enumerate(zip(state.turns, levels, strict=True))
        ]
        history = recent_of(state.history, room.history)
        return replace(state, history=history, turns=turns, draft=state.draft.copy())

    def _levels(self, turns: Sequence[Turn], room: Room) -> list[_Level]:
        """Go through the run anew, so that what was shortened then is shortened now."""
        levels: list[_Level] = []
        costs: list[int] = []
        for turn in turns:
            levels.append(_Level.WHOLE)
            costs.append(self._told_cost(turn, _Level.WHOLE, room.share))
            if sum(costs) <= room.steps:
                continue
            for at, level in self._order(levels):
                if sum(costs) <= room.steps * _FREED:
                    break
                levels[at] = level
                costs[at] = self._told_cost(turns[at], level, room.share)
        return levels

    def _order(self, levels: Sequence[_Level]) -> list[tuple[int, _Level]]:
        """Return what to shorten next, one after the other; the last step stays whole."""
        older = range(len(levels) - 1)
        return [
            (at, level)
            for level in (_Level.SHORT, _Level.LINE, _Level.COUNTED)
            for at in older
            if levels[at] < level
        ]

    def _told_cost(self, turn: Turn, level: _Level, share: int) -> int:
        return self._size(self._compact(turn, level, share, is_last=False)).all

    def _size(self, turn: Turn) -> "_Size":
        key = id(turn)
        known = self._sizes.get(key)
        if known is None or known[0] is not turn:
            known = turn, _size(turn)
            self._sizes[key] = known
        return known[1]

    def _compact(self, turn: Turn, level: _Level, share: int, *, is_last: bool) -> Turn:
        key = (turn.index, level, share, is_last)
        known = self._told.get(key)
        if known is None or known[0] is not turn:
            known = turn, self._made(turn, level, share, is_last=is_last)
            self._told[key] = known
        return known[1]

    def _made(self, turn: Turn, level: _Level, share: int, *, is_last: bool) -> Turn:
        most = share if level is _Level.WHOLE else _TOKENS[level]
        told: dict[str, Any] = {}
        thought = turn.thought
        if thought is not None and thought.plan is None and tokens(thought.text) > most:
            told["thought"] = thought.model_copy(update={"text": clamped(thought.text, most)})
        each = most // max(1, len(turn.actions))
        actions = tuple(
            self._action(action, each, turn.index, place, keeps_inputs=is_last)
            for place, action in enumerate(turn.actions)
        )
        if any(new is not old for new, old in zip(actions, turn.actions, strict=True)):
            told["actions"] = actions
        return turn.model_copy(update=told) if told else turn

    def _action(
        self, action: Action, most: int, turn: int, place: int, *, keeps_inputs: bool
    ) -> Action:
        told: dict[str, Any] = {}
        if action.observation is not None:

            def more(offset: int) -> str:
                of_action = f' "action": {place + 1},' if place else ""
                call = f'{{"turn": {turn + 1},{of_action} "offset": {offset}}}'
                return f" {READ_ON} with {call} reads on." if self._reads_on else ""

            seen = excerpt(action.observation, max(MARK, most), more)
            told = {"observation": seen} if seen is not action.observation else {}
        call = action.call
        if call is not None and not keeps_inputs and tokens(_written(call.inputs)) > most:
            inputs = {name: _shortened(value, most) for name, value in call.inputs.items()}
            told["call"] = call.model_copy(update={"inputs": inputs})
        return action.model_copy(update=told) if told else action


def has_excerpts(state: State) -> bool:
    """Tell whether something of an observation is left out."""
    return any(isinstance(seen, Excerpt) for t in state.turns for seen in t.observations)


def history_cost(history: Sequence[Exchange]) -> int:
    """Return about how many tokens exchanges take."""
    return sum(tokens(each.question) + tokens(each.answer) for each in history)


def recent_of(history: Sequence[Exchange], most: int) -> list[Exchange]:
    """Return the last exchanges that fit, with a mark of how many are left out before them."""
    if history_cost(history) <= most:
        return list(history)
    kept: list[Exchange] = []
    left = most - _AROUND
    for exchange in reversed(history):
        short = Exchange(
            question=clamped(exchange.question, most // 4),
            answer=clamped(exchange.answer, most // 4),
        )
        left -= history_cost([short])
        if left < 0:
            break
        kept.insert(0, short)
    if gone := len(history) - len(kept):
        count = f"{gone} earlier exchange" + ("s are" if gone > 1 else " is")
        kept.insert(0, Exchange(question=LEFT_OUT, answer=f"({count} left out here.)"))
    return kept


def _size(turn: Turn) -> _Size:
    said = turn.thought
    thought = 0 if said is None else tokens(said.text + said.answer)
    if said is not None and said.kept:
        thought += tokens(_written({"kept": said.kept}))
    calls = sum(tokens(call.tool + _written(call.inputs)) for call in turn.calls)
    seen = [tokens(observed(seen)) for seen in turn.observations]
    whole = _AROUND * (1 + len(seen)) + thought + calls + sum(seen)
    return _Size(whole, max(seen, default=0))


def _written(inputs: dict[str, Any]) -> str:
    return json.dumps(inputs, ensure_ascii=False, default=str)


def _shortened(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return clamped(value, most // 2)
    return value if tokens(_written({"": value})) <= most // 2 else "[...]"
