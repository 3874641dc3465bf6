"""What the runs of a chaos run are about: each story is a script, and how it may honestly end.

A story is told under a policy of its own, so that every text of it is known beforehand and unlike
any other run's.
"""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import ModelChoice
from tests.chaos.scripts import SCRIPTS, SETTINGS, Step, together

LEAVES_MARKS = ("marks__mark", "marks__look")
MARK, LOOK = LEAVES_MARKS
STOPPED_WHILE_ASKING = 0.2
ASKED_TOGETHER = 0.4
MODEL = "told-over-http"
"""The name of the model that `tests/chaos/model.py` serves."""


@dataclass(frozen=True)
class Story:
    """A question with all that will be said to it.

    `ends` are the statuses with reasons that are honest when nobody stops it; `stop_after` is how
    many seconds its person watches before they stop it, None for one who waits. `has_plain_turns`
    where each step is one turn that says what the story says; other policies put it otherwise.
    `served` are the replies of a story that a model server tells.
    """

    key: str
    spec: PolicySpec
    steps: tuple[Step, ...]
    answer: str
    ends: frozenset[tuple[str, str]]
    stop_after: float | None = None
    has_plain_turns: bool = True
    served: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """Return what the person asks."""
        return f"Tell the story {self.key}."


Tell = Callable[[random.Random, str], Story]


def story(chance: random.Random, key: str) -> Story:
    """Make up the next story; `key` is in every text of it."""
    kinds = list(KINDS)
    kind = chance.choices(kinds, [KINDS[name][0] for name in kinds])[0]
    return KINDS[kind][1](chance, f"{kind}-{key}")


def _answered(chance: random.Random, key: str) -> Story:
    steps = _steps(chance, key, chance.randint(1, 4))
    answer = _words(chance, key, chance.randint(10, 80))
    return _story(chance, key, _script("explicit", key, steps, answer), steps, answer)


def _brief(chance: random.Random, key: str) -> Story:
    """Tell what is over before anybody has looked: it may begin and end while Redis is away."""
    answer = _words(chance, key, 5)
    return _story(chance, key, _script("explicit", key, (), answer), (), answer)


def _served(chance: random.Random, key: str) -> Story:
    """Tell it by a model server, over HTTP, which at times asks for patience."""
    told = _answered(chance, key)
    replies = tuple(entry["say"] for entry in told.spec.model.script)
    model = ModelChoice(provider="openai", model=MODEL)
    return replace(told, spec=told.spec.model_copy(update={"model": model}), served=replies)


def _otherwise(policy: str) -> Tell:
    """Tell it under another policy, with calls that may be made again."""

    def tell(chance: random.Random, key: str) -> Story:
        drawn = _steps(chance, key, chance.randint(1, 3))
        steps = tuple(step._replace(tool=LOOK) for step in drawn)
        answer = _words(chance, key, chance.randint(10, 40))
        told = _story(chance, key, _script(policy, key, steps, answer), steps, answer)
        changes = {"policy": policy, "settings": SETTINGS.get(policy, {})}
        return replace(told, spec=told.spec.model_copy(update=changes), has_plain_turns=False)

    return tell


def _together(chance: random.Random, key: str) -> Story:
    """Tell it in one turn of several calls; of some of them a person is asked about each mark."""
    steps = _steps(chance, key, chance.randint(2, 4))
    answer = _words(chance, key, chance.randint(10, 40))
    script = [{"say": text} for text in together(steps, f"{key} is told", answer)]
    told = _story(chance, key, script, steps, answer)
    approve = (MARK,) if chance.random() < ASKED_TOGETHER else ()
    changes = {"policy": "self_repair", "approve": approve}
    return replace(told, spec=told.spec.model_copy(update=changes), has_plain_turns=False)


def _asking(chance: random.Random, key: str) -> Story:
    is_stopped = chance.random() < STOPPED_WHILE_ASKING
    told = (_stopped if is_stopped else _answered)(chance, key)
    return replace(told, spec=told.spec.model_copy(update={"approve": (MARK,)}))


def _refused(chance: random.Random, key: str) -> Story:
    steps = _steps(chance, key, chance.randint(0, 2))
    script: list[dict[str, Any]] = [*_script("explicit", key, steps, "")[:-1]]
    script.append({"fail": "refused", "after": f"Thought: {_words(chance, key, 6)}"})
    return _story(chance, key, script, steps, "", ends={("failed", "provider")})


def _worn_out(chance: random.Random, key: str) -> Story:
    turns = chance.randint(1, 3)
    steps = _steps(chance, key, turns)
    answer = _words(chance, key, 12)
    script = [*_script("explicit", key, steps, "")[:-1], {"say": answer}]
    limits = Limits(max_turns=turns)
    ends = {("exhausted", "turns")}
    return _story(chance, key, script, steps, answer, ends=ends, limits=limits)


def _stopped(chance: random.Random, key: str) -> Story:
    return replace(_answered(chance, key), stop_after=chance.uniform(0, 8))


def _endless(chance: random.Random, key: str) -> Story:
    steps = _steps(chance, key, chance.randint(0, 2))
    *said, last = _script("explicit", key, steps, _words(chance, key, 30))
    script = [*said, {"hang": True, "after": last["say"]}]
    told = _story(chance, key, script, steps, "", ends=set())
    return replace(told, stop_after=chance.uniform(0, 12))


KINDS: dict[str, tuple[int, Tell]] = {
    "answered": (10, _answered),
    "brief": (6, _brief),
    "served": (6, _served),
    "refused": (2, _refused),
    "worn": (2, _worn_out),
    "asking": (4, _asking),
    "together": (3, _together),
    "stopped": (2, _stopped),
    "endless": (2, _endless),
    **{policy: (1, _otherwise(policy)) for policy in SCRIPTS if policy != "explicit"},
}
"""How often each kind is told, and by what."""


def _steps(chance: random.Random, key: str, count: int) -> tuple[Step, ...]:
    return tuple(
        Step(_words(chance, f"{key}.{number}", 8), chance.choice(LEAVES_MARKS), f"{key}.{number}")
        for number in range(count)
    )


def _script(policy: str, key: str, steps: Sequence[Step], answer: str) -> list[dict[str, Any]]:
    return [{"say": text} for text in SCRIPTS[policy](steps, f"{key} is told", answer)]


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
    ends: Collection[tuple[str, str]] = (("succeeded", "answered"),),
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
