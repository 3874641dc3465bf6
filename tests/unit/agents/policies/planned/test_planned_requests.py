"""The requests of the policy planned: mode and strategy, a budget, pictures, and its settings."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.contracts import Exchange, Image, Status
from agents.control import Control
from agents.errors import ConfigurationError
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.policies.planned.replies import DONE, asked, step
from tests.unit.agents.policies.planned.watched import Watched

Play = Callable[..., Any]


@tool()
def add(left: int) -> str:
    """Add one."""
    return str(left + 1)


@tool()
def look(at: int) -> Iterator[str | Image]:
    """Take a picture."""
    yield f"picture {at}"
    yield Image(media_type="image/png", data=PICTURES[at])


PICTURES = ("AAAA", "BBBB")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"strategy": "chain_of_thought"}, "Think in a chain"),
        ({"strategy": "tree_of_thought"}, '"tree_of_thoughts"'),
        ({"mode": "research"}, "more than one source"),
        ({"mode": "scrape"}, "gathering data"),
        ({"mode": "navigate"}, "way to a place"),
        ({"mode": "execute"}, "getting something done"),
    ],
)
def test_mode_and_strategy_are_told_to_the_model(
    play: Play, settings: dict[str, str], words: str
) -> None:
    assert words in asked(play(DONE, settings=settings), 0)


def test_a_long_run_stays_within_its_budget_and_keeps_the_goal(play: Play) -> None:
    script = [
        step(("search", "add")[n % 2], **({"query": "x" * 4_000}, {"left": n})[n % 2])
        for n in range(40)
    ]
    played = play(*script, DONE, settings={"input_tokens": 6_000}, goal="Keep me <whole>")

    assert all("Keep me <whole>" in asked(played, number) for number in range(41))
    assert all(len(asked(played, number)) < 6_000 * 3.5 for number in range(41))
    assert played.outcome.status is Status.SUCCEEDED


def test_a_long_conversation_is_clamped(play: Play) -> None:
    history = [Exchange(question="q" * 9_000, answer="a" * 90_000) for _ in range(10)]
    played = play(DONE, history=history)

    assert len(asked(played, 0)) < 25_000 * 3.5


def test_a_model_that_sees_is_given_the_last_picture_only(play: Play) -> None:
    model = Watched(step("look", at=0), step("look", at=1), step("add", left=1), DONE)

    played = play(provider=model, tools=[look, add], settings={"vision": True})

    assert played.outcome.status is Status.SUCCEEDED
    assert model.shown == [[], ["AAAA"], ["BBBB"], []]


@pytest.mark.parametrize("settings", [{}, {"vision": True, "mode": "research"}])
def test_no_picture_is_given_without_eyes_or_where_it_does_not_help(
    play: Play, settings: dict[str, Any]
) -> None:
    model = Watched(step("look", at=0), DONE)

    play(provider=model, tools=[look], settings=settings)

    assert model.shown == [[], []]


@pytest.mark.parametrize(
    "settings", [{"mode": "dance"}, {"strategy": 3}, {"input_tokens": 1}, {"unknown": True}]
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    parts = Parts(Model(ScriptedProvider([]), Control()), Toolkit(), Limits())

    with pytest.raises(ConfigurationError, match="settings cannot be used"):
        build(PolicySpec(policy="planned", settings=settings), parts)


def test_a_tool_named_like_one_of_its_own_is_refused() -> None:
    @tool()
    def complete(x: str) -> str:
        """Clash."""
        return x

    clashing: list[Tool] = [complete]
    parts = Parts(Model(ScriptedProvider([]), Control()), Toolkit(clashing), Limits())

    with pytest.raises(ConfigurationError, match="complete"):
        build(PolicySpec(policy="planned"), parts)
