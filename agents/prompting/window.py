"""What a model is told of a run so far, within a budget of tokens.

The goal is never touched. Of the steps the oldest are shortened first, then told in one line each,
then only counted. That happens in leaps: once the budget is passed, a quarter of it is freed, so
that the text keeps its beginning from one turn to the next until it is passed again.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial

from agents.contracts import Action, Exchange, ToolCall, Turn
from agents.model.tokens import BYTES_PER_TOKEN, tokens
from agents.prompting.prompts import enclosed
from agents.state import State, observed
from agents.text import clipped, clipped_to

_FREED = 0.75
_SHORT, _LINE = 400, 120


def clamped(text: str, most: int) -> str:
    """Return a text of about `most` tokens at most, its middle left out."""
    if tokens(text) <= most:
        return text
    return clipped_to(int(most * BYTES_PER_TOKEN), text)


def recent(history: Sequence[Exchange], most: int) -> list[Exchange]:
    """Return the last exchanges that fit, the newest always, each clamped to half of it."""
    kept: list[Exchange] = []
    left = most
    for exchange in reversed(history):
        question, answer = (clamped(t, most // 4) for t in (exchange.question, exchange.answer))
        left -= tokens(question) + tokens(answer)
        if left < 0 and kept:
            break
        kept.append(Exchange(question=question, answer=answer))
    return kept[::-1]


def with_recent(state: State, most: int) -> State:
    """Return the run with the exchanges before it held to `most` tokens."""
    return replace(state, history=recent(state.history, most))


class _Level(IntEnum):
    WHOLE, SHORT, LINE, GONE = range(4)


@dataclass(frozen=True)
class Window:
    """How steps are told: in how many tokens, and how many of the newest stay whole."""

    most: int
    kept: int = 2

    def told(self, turns: Sequence[Turn]) -> str:
        """Write the complete turns, each at the level that the budget leaves it."""
        done = [turn for turn in turns if turn.thought is not None and turn.thought.plan is None]
        levels = self._levels(done)
        gone = sum(level is _Level.GONE for level in levels)
        texts = [self._text(turn, level) for turn, level in zip(done, levels, strict=True)]
        if gone:
            texts.insert(0, f"\n\n[The first {gone} steps are left out here.]")
        return "".join(texts)

    def _levels(self, turns: Sequence[Turn]) -> list[_Level]:
        """Return the levels by going through the run anew, so that they leap as they did then."""
        levels: list[_Level] = []
        costs: list[int] = []
        total = 0
        edges = {_Level.WHOLE: 0, _Level.SHORT: 0, _Level.LINE: 0}
        for turn in turns:
            levels.append(_Level.WHOLE)
            costs.append(tokens(self._text(turn, _Level.WHOLE)))
            total += costs[-1]
            if total <= self.most:
                continue
            while total > self.most * _FREED and (at := self._next(edges, len(levels))) is not None:
                levels[at] = _Level(levels[at] + 1)
                total -= costs[at]
                costs[at] = tokens(self._text(turns[at], levels[at]))
                total += costs[at]
        return levels

    def _next(self, edges: dict[_Level, int], count: int) -> int | None:
        """Return the step to shorten next: the oldest of those that are told at most length."""
        bounds = {
            _Level.WHOLE: count - self.kept,
            _Level.SHORT: edges[_Level.WHOLE],
            _Level.LINE: edges[_Level.SHORT],
        }
        for level, bound in bounds.items():
            if edges[level] < bound:
                edges[level] += 1
                return edges[level] - 1
        return None

    def _text(self, turn: Turn, level: _Level) -> str:
        thought = "" if turn.thought is None else turn.thought.text
        match level:
            case _Level.GONE:
                return ""
            case _Level.LINE:
                lines = map(_line, turn.actions or [Action(call=None)])
                return "\n".join([f"\n\nStep {turn.index + 1}", *lines])
            case _Level.SHORT:
                return _step(turn, clipped(thought, _SHORT), _short, _SHORT)
            case _:
                most = max(50, self.most // (2 * max(1, self.kept)))
                part = most // (2 * max(1, len(turn.actions)))
                return _step(
                    turn, clamped(thought, most // 4), partial(clamped, most=part), 3 * most
                )


def action_text(call: ToolCall) -> str:
    """Write an action as JSON, as the model shall write it; the same one is always alike."""
    tool, inputs = (
        json.dumps(each, ensure_ascii=False, sort_keys=True) for each in (call.tool, call.inputs)
    )
    return f'{{"tool": {tool}, "parameters": {inputs}}}'


def _line(action: Action) -> str:
    call = "" if action.call is None else f"{action.call.tool}: "
    seen = "" if action.observation is None else observed(action.observation)
    return f"{call}{' '.join(seen.split())[:_LINE]}"


def _short(text: str) -> str:
    return clipped(text, _SHORT)


def _step(turn: Turn, thought: str, shortened: Callable[[str], str], most: int) -> str:
    lines = [f"\n\nStep {turn.index + 1}", f"Thought: {thought}"]
    for action in turn.actions:
        if action.call is not None:
            text = action_text(action.call)
            lines.append(f"Action: {text if len(text) <= most else f'{text[:most]}[...]'}")
        if action.observation is not None:
            seen = shortened(observed(action.observation))
            lines.append(f"Observation:\n{enclosed('observation', seen)}")
    return "\n".join(lines)
