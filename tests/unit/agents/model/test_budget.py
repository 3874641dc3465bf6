"""A budget counts what calls come to, and prices are read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts import Message, ModelCall, Purpose, Role, Usage
from agents.control import Control
from agents.errors import ConfigurationError, OutOfBudget
from agents.model.budget import Budget
from agents.model.model import RESERVED, Model
from agents.policies.budgets import budget_for
from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import ModelChoice
from agents.providers.list_price import list_price_of
from agents.providers.price import Price, price_of, read_prices
from agents.providers.scripted import ScriptedProvider

PRICE = Price(input=2, output=10)


class Paid(ScriptedProvider):
    """A provider that somebody is paid for, by its name alone."""

    name = "openai"
    model = "gpt-4o-mini"


def call(given: int | None, made: int | None, text: str = "") -> ModelCall:
    return ModelCall(
        purpose=Purpose.THINK,
        provider="p",
        model="m",
        request=text,
        reply=text,
        usage=Usage(input_tokens=given, output_tokens=made),
        started_at=0,
        seconds=0,
    )


def spec(price: Price | None = None, **limits: float) -> PolicySpec:
    model = ModelChoice(price=price)
    return PolicySpec(policy="explicit", model=model, limits=Limits.model_validate(limits))


def test_without_a_limit_nothing_is_ever_used_up() -> None:
    budget = Budget()

    budget.count(call(10**9, 10**9))

    assert not budget.is_used_up


def test_tokens_of_all_calls_count_and_those_of_earlier_attempts() -> None:
    budget = Budget(100, earlier=[(40, 15), (20, 5)])
    used_up = []

    for cost in (call(10, 9), call(1, 0)):
        budget.count(cost)
        used_up.append(budget.is_used_up)

    assert used_up == [False, True]
    assert budget.used == "The run's budget is used up (100 of 100 tokens)."


def test_what_tokens_cost_is_told_apart_by_whether_they_were_given_or_made() -> None:
    budget = Budget(most_cost=0.0022, price=PRICE)
    used_up = []

    for cost in (call(100, 100), call(0, 100)):
        budget.count(cost)
        used_up.append(budget.is_used_up)

    assert used_up == [False, True]
    assert budget.cost == pytest.approx(0.0022)
    assert budget.used == "The run's budget is used up ($0.0022 of $0.0022)."


def test_a_call_that_nobody_counted_is_not_free() -> None:
    budget = Budget(1_000)

    budget.count(call(None, None, "x" * 2_000))

    assert budget.is_used_up


def test_a_model_without_budget_is_not_asked_but_for_the_call_in_reserve() -> None:
    model = Model(ScriptedProvider([{"say": "a"}]), Control(), budget=Budget(1, earlier=[(1, 0)]))

    with pytest.raises(OutOfBudget, match="1 of 1 tokens"):
        list(model.stream([], purpose=Purpose.THINK))

    said = [getattr(item, "text", "") for item in model.stream([], purpose=RESERVED)]
    assert said == ["a", ""]


@pytest.mark.parametrize(
    ("model", "price"),
    [("gpt-4o-mini", (0.15, 0.6)), ("claude-x", (3, 15)), ("other", None), ("GPT-4o-mini", None)],
)
def test_the_first_price_that_fits_a_model_counts(
    model: str, price: tuple[float, float] | None
) -> None:
    prices = read_prices("gpt-4o-mini=0.15/0.60, claude-*=3/15\ngpt-*=9/9")

    found = price_of(model, prices)

    assert (None if found is None else (found.input, found.output)) == price


@pytest.mark.parametrize(
    "entry", ["gpt", "gpt=", "gpt=1", "gpt=a/b", "gpt=-1/2", "=1/2", "a=1/2/3/4"]
)
def test_a_price_that_cannot_be_read_is_refused_in_words(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="is no price"):
        read_prices(f"good=1/2 {entry}")


@given(st.text())
def test_any_text_is_prices_or_a_clear_error(text: str) -> None:
    try:
        prices = read_prices(text)
    except ConfigurationError:
        return
    assert all(priced.models for priced in prices)


@pytest.mark.parametrize(("text", "cost"), [("m=2/4/0.5", 1.25), ("m=2/4/0", 1.0), ("m=2/4", 2.0)])
def test_what_a_server_had_cached_costs_what_is_said_for_it(text: str, cost: float) -> None:
    price = price_of("m", read_prices(text))
    usage = Usage(input_tokens=1_000_000, output_tokens=0, cached_tokens=500_000)
    script = [{"say": "a", "usage": usage.model_dump()}]
    model = Model(ScriptedProvider(script), Control(), budget=(budget := Budget(price=price)))

    list(model.stream([Message(role=Role.USER, content="Q?")], purpose=Purpose.THINK))

    assert budget.cost == cost


def test_a_list_price_knows_what_was_cached() -> None:
    price = list_price_of("gpt-4o-mini", "https://api.openai.com/v1")

    assert price is not None
    assert price.of(1_000_000, 0, 1_000_000) < price.of(1_000_000, 0)


def test_a_price_that_says_nothing_of_a_cache_is_written_as_it_was() -> None:
    assert Price(input=1, output=2).model_dump() == {"input": 1, "output": 2}
    assert Price(input=1, output=2, cached=0).model_dump() == {"input": 1, "output": 2, "cached": 0}


def test_each_call_is_paid_for_by_itself() -> None:
    price = list_price_of("claude-haiku-5-5", "https://api.anthropic.com")
    long, short = (200_000, 0), (50_000, 0)

    apart, at_once = (
        Budget(most_cost=1, price=price, earlier=calls) for calls in ([short] * 4, [long])
    )

    assert 0 < 2 * apart.cost < at_once.cost


def test_a_limit_of_money_without_a_price_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="price of 'gpt-4o-mini' is not known"):
        budget_for(spec(cost=1), Paid([]), "gpt-4=1/2")


def test_the_policys_own_price_comes_before_the_settings() -> None:
    budget = budget_for(
        spec(PRICE, cost=1),
        Paid([]),
        "*=1000/1000",
        earlier=[(1_000_000, 0)],
    )

    assert budget.cost == pytest.approx(2)


def test_what_nobody_is_paid_for_costs_nothing() -> None:
    budget = budget_for(spec(cost=1), ScriptedProvider([]), "", earlier=[(10**12, 0)])

    assert (budget.cost, budget.is_used_up) == (0, False)


def test_without_a_limit_of_money_wrong_prices_stop_nothing() -> None:
    assert not budget_for(spec(tokens=5), ScriptedProvider([]), "nonsense").is_used_up
