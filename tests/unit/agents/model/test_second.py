"""Where a provider does not answer its second is asked, before the first token and not after."""

from typing import Any

import pytest

from agents.contracts import Message, ModelCall, Purpose, Role, Usage
from agents.control import Control
from agents.errors import ProviderBusy, ProviderError
from agents.events import ModelCalled
from agents.model.budget import Answerer
from agents.model.model import Model
from agents.model.second import Seconded
from agents.policies.budgets import budget_for
from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import ModelChoice
from agents.providers.named.provider import NamedProvider
from agents.providers.named.providers import NamedProviders
from agents.providers.price import Price
from agents.providers.scripted import ScriptedProvider

MESSAGES = (Message(role=Role.USER, content="2 + 2?"),)


class Named(ScriptedProvider):
    """A scripted provider under a name."""

    def __init__(self, name: str, *script: dict[str, Any]) -> None:
        super().__init__(script)
        self.name, self.model = name, f"{name}-m"


def completed(*line: Named) -> tuple[str, list[ModelCalled]]:
    """Return the reply to one question, and what was told of calls."""
    told = []
    asking = Model(Seconded(*line), Control(30)).complete(MESSAGES, purpose=Purpose.THINK)
    try:
        while True:
            told.append(next(asking))
    except StopIteration as end:
        return end.value, told


@pytest.mark.parametrize("failure", ["unreachable", "busy", "silent"])
def test_the_second_answers_in_the_place_of_one_that_does_not(failure: str) -> None:
    reply, told = completed(Named("east", {"fail": failure}), Named("west", {"say": "four"}))

    assert reply == "four"
    assert [(one.call.provider, bool(one.call.error), one.passed_to) for one in told] == [
        ("east", True, "west"),
        ("west", False, ""),
    ]


def test_a_third_answers_where_two_do_not() -> None:
    busy = {"fail": "busy"}

    reply, told = completed(Named("a", busy), Named("b", busy), Named("c", {"say": "four"}))

    assert reply == "four"
    assert [one.call.provider for one in told] == ["a", "b", "c"]


@pytest.mark.parametrize("failure", ["refused", "garbled"])
def test_what_another_would_not_answer_either_is_not_passed_on(failure: str) -> None:
    with pytest.raises(ProviderError):
        completed(Named("east", {"fail": failure}), Named("west", {"say": "four"}))


def test_nothing_is_passed_on_once_a_token_has_come() -> None:
    west = Named("west", {"say": "four"})

    with pytest.raises(ProviderError):
        completed(Named("east", {"fail": "busy", "after": "The an"}), west)


def test_the_last_ones_error_is_raised() -> None:
    with pytest.raises(ProviderError):
        completed(Named("east", {"fail": "busy"}), Named("west", {"fail": "unreachable"}))


def test_a_run_that_was_passed_on_stays_with_the_second() -> None:
    line = Seconded(
        Named("east", {"fail": "busy"}, {"say": "never"}),
        Named("west", {"say": "four"}, {"say": "five"}),
    )
    model = Model(line, Control(30))

    told = [
        item.call.provider
        for _ in range(2)
        for item in model.stream(MESSAGES, purpose=Purpose.THINK)
        if isinstance(item, ModelCalled)
    ]

    assert told == ["east", "west", "west"]
    assert (line.name, line.model) == ("west", "west-m")


def call(by: str) -> ModelCall:
    return ModelCall(
        purpose=Purpose.THINK,
        provider=by,
        model=f"{by}-m",
        request="",
        reply="",
        usage=Usage(input_tokens=1_000_000, output_tokens=0),
        started_at=0,
        seconds=0,
    )


def test_each_call_is_paid_by_the_price_of_who_answered() -> None:
    providers = NamedProviders(
        NamedProvider(name=name, dialect="openai", prices={"*": Price(input=price, output=0)})
        for name, price in (("east", 1), ("west", 5))
    )
    spec = PolicySpec(policy="explicit", limits=Limits(cost=100))
    line = Seconded(Named("east"), Named("west"))
    earlier = [(1_000_000, 0, 0, Answerer("west", "west-m"))]

    budget = budget_for(spec, line, "", providers, earlier=earlier)
    budget.count(call("east"))
    budget.count(call("west"))

    assert budget.cost == 11


def test_a_policys_price_is_not_that_of_who_stands_in() -> None:
    spec = PolicySpec(
        policy="explicit",
        limits=Limits(cost=100),
        model=ModelChoice(price=Price(input=1, output=0)),
    )
    line = Seconded(Named("east"), Named("west"))

    budget = budget_for(spec, line, "west-m=7/0")
    budget.count(call("east"))
    budget.count(call("west"))

    assert budget.cost == 8


def test_what_was_learnt_of_a_model_is_that_of_who_is_asked_now() -> None:
    class Knowing(Named):
        context_length = 8_192
        thinks_first = True

        def refuses(self, parameter: str) -> bool:
            return parameter == "tools"

    east = Named("east")
    both = Seconded(east, Knowing("west"))
    assert (both.context_length, both.thinks_first, both.refuses("tools")) == (None, None, False)

    assert both.pass_on(east, ProviderBusy("busy"))

    assert (both.context_length, both.thinks_first, both.refuses("tools")) == (8_192, True, True)
