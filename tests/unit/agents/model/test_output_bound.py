"""Every call to a model is bounded in what it may say, by what the call is for."""

from dataclasses import replace

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.model.model import ANSWERS, Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.base import ModelRequest
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.toolkit import Toolkit

ASKED = [Message(role=Role.USER, content="What is 2 + 3?")]


class Listening(ScriptedProvider):
    """Keep what is asked."""

    def __init__(self, *replies: str) -> None:
        super().__init__([{"say": reply} for reply in replies])
        self.requests: list[ModelRequest] = []
        self.length: int | None = None

    @property
    def context_length(self) -> int | None:
        return self.length

    def body(self, request: ModelRequest) -> str:
        self.requests.append(request)
        return super().body(request)


@pytest.fixture
def provider() -> Listening:
    return Listening(*["Final Answer: 5"] * 30)


def bounds_of(model: Model, provider: Listening) -> dict[Purpose, int | None]:
    for purpose in Purpose:
        list(model.stream(ASKED, purpose=purpose))
    return {request.purpose: request.max_tokens for request in provider.requests}


def test_every_purpose_has_a_bound_and_an_answer_a_wider_one(provider: Listening) -> None:
    bounds = bounds_of(Model(provider, Control()), provider)

    assert {bounds[purpose] for purpose in ANSWERS} == {16_000}
    assert {bound for purpose, bound in bounds.items() if purpose not in ANSWERS} == {8_000}


def test_what_a_version_says_of_its_model_counts_for_every_purpose(provider: Listening) -> None:
    bounds = bounds_of(Model(provider, Control(), max_tokens=700), provider)

    assert set(bounds.values()) == {700}


def test_no_call_may_say_more_than_a_quarter_of_what_its_model_takes(provider: Listening) -> None:
    provider.length = 8_192

    bounds = bounds_of(Model(provider, Control(), max_tokens=100_000), provider)

    assert set(bounds.values()) == {2_048}


def test_the_limits_of_a_policy_bound_its_calls(provider: Listening) -> None:
    limits = Limits(thought_tokens=300, answer_tokens=900)
    parts = Parts(Model(provider, Control()), Toolkit(), limits)
    policy = build(PolicySpec(policy="explicit", limits=limits), parts)

    list(policy.think(State("What is 2 + 3?")))

    assert [request.max_tokens for request in provider.requests] == [900]


def test_a_model_that_is_given_another_bound_keeps_the_rest(provider: Listening) -> None:
    model = replace(Model(provider, Control(), answer_tokens=900), temperature=0.1)

    assert bounds_of(model, provider)[Purpose.FINAL] == 900
