"""What the runs of a chaos run are about: each story is a script, and how it may honestly end.

A story is told under a policy of its own, so that every text of it is known beforehand and unlike
any other run's.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import ModelChoice

LEAVES_MARKS = ("marks__mark", "marks__look")
MARK, LOOK = LEAVES_MARKS
STOPPED_WHILE_ASKING = 0.2


@dataclass(frozen=True)
class Step:
    """One turn of a story: the thought, and the call it leads to."""

    thought: str
    tool: str = ""
    token: str = ""


@dataclass(frozen=True)
class Story:
    """A question with all that will be said to it.

    `ends` are the statuses with reasons that are honest when nobody stops it; `stop_after` is how
    many seconds its person watches before they stop it, None for one who waits.
    """

    key: str
    spec: PolicySpec
    steps: tuple[Step, ...]
    answer: str
    ends: frozenset[tuple[str, str]]
    stop_after: float | None = None

    @property
    def question(self) -> str:
        """Return what the person asks."""
        return f"Tell the story {self.key}."


def story(chance: random.Random, key: str) -> Story:
    """Make up the next story; `key` is in every text of it."""
    kinds = list(KINDS)
    kind = chance.choices(kinds, [KINDS[name][0] for name in kinds])[0]
    return KINDS[kind][1](chance, f"{kind}-{key}")


def _answered(chance: random.Random, key: str) -> Story:
    steps = _steps(chance, key, chance.randint(1, 4))
    answer = _words(chance, key, chance.randint(10, 80))
    script = [*map(_said, steps), _final(key, answer)]
    return _story(chance, key, script, steps, answer, ends={("succeeded", "answered")})


def _asking(chance: random.Random, key: str) -> Story:
    is_stopped = chance.random() < STOPPED_WHILE_ASKING
    told = (_stopped if is_stopped else _answered)(chance, key)
    return replace(told, spec=told.spec.model_copy(update={"approve": (MARK,)}))


def _refused(chance: random.Random, key: str) -> Story:
    steps = _steps(chance, key, chance.randint(0, 2))
    script: list[dict[str, Any]] = [*map(_said, steps)]
    script.append({"fail": "refused", "after": f"Thought: {_words(chance, key, 6)}"})
    return _story(chance, key, script, steps, "", ends={("failed", "provider")})


def _worn_out(chance: random.Random, key: str) -> Story:
    turns = chance.randint(1, 3)
    steps = _steps(chance, key, turns)
    answer = _words(chance, key, 12)
    script = [*map(_said, steps), {"say": answer}]
    limits = Limits(max_turns=turns)
    ends = {("exhausted", "turns")}
    return _story(chance, key, script, steps, answer, ends=ends, limits=limits)


def _stopped(chance: random.Random, key: str) -> Story:
    return replace(_answered(chance, key), stop_after=chance.uniform(0, 8))


def _endless(chance: random.Random, key: str) -> Story:
    steps = _steps(chance, key, chance.randint(0, 2))
    said = _final(key, _words(chance, key, 30))["say"]
    script = [*map(_said, steps), {"hang": True, "after": said}]
    told = _story(chance, key, script, steps, "", ends=set())
    return replace(told, stop_after=chance.uniform(0, 12))


Tell = Callable[[random.Random, str], Story]
KINDS: dict[str, tuple[int, Tell]] = {
    "answered": (12, _answered),
    "refused": (2, _refused),
    "worn": (2, _worn_out),
    "asking": (4, _asking),
    "stopped": (2, _stopped),
    "endless": (2, _endless),
}
"""How often each kind is told, and by what."""


def _steps(chance: random.Random, key: str, count: int) -> tuple[Step, ...]:
    return tuple(
        Step(_words(chance, f"{key}.{number}", 8), chance.choice(LEAVES_MARKS), f"{key}.{number}")
        for number in range(count)
    )


def _said(step: Step) -> dict[str, Any]:
    inputs = f'{{"token": "{step.token}"}}'
    return {"say": f"Thought: {step.thought}\nAction: {step.tool}\nAction Input: {inputs}"}


def _final(key: str, answer: str) -> dict[str, Any]:
    return {"say": f"Thought: {key} is told\nFinal Answer: {answer}"}


def _words(chance: random.Random, key: str, count: int) -> str:
    """Return so many words that nobody says twice."""
    return " ".join(f"{key}:{number}" for number in range(max(1, count + chance.randint(-2, 2))))


def _story(
    chance: random.Random,
    key: str,
    script: list[dict[str, Any]],
    steps: tuple[Step, ...],
    answer: str,
    *,
    ends: set[tuple[str, str]],
    limits: Limits | None = None,
) -> Story:
    rate = chance.uniform(15, 60)
    paced = tuple(entry | {"rate": rate} for entry in script)
    spec = PolicySpec(
        policy="explicit",
        model=ModelChoice(provider="scripted", script=paced),
        tools=LEAVES_MARKS,
        limits=limits or Limits(max_turns=20, seconds=3600, idle_seconds=3600),
    )
    return Story(key, spec, steps, answer, frozenset(ends))
