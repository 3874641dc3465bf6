"""The budget of one run, from its policy's limits and from what its model costs."""

from agents.errors import ConfigurationError
from agents.model.budget import Budget
from agents.policies.spec import PolicySpec
from agents.providers.base import Provider
from agents.providers.price import Price, price_of, read_prices

FREE = frozenset({"demo", "scripted"})
"""Providers that nobody is paid for."""


def budget_for(
    spec: PolicySpec,
    provider: Provider,
    prices: str,
    *,
    given: int = 0,
    made: int = 0,
) -> Budget:
    """Return the budget of a run on `provider`, of which so many tokens are spent already.

    Raises ConfigurationError where money is limited and nobody has said what the model costs.
    """
    price = _price(spec, provider, prices) if spec.limits.cost is not None else None
    return Budget(spec.limits.tokens, spec.limits.cost, price, given=given, made=made)


def price_for(spec: PolicySpec | None, provider: str, model: str, prices: str) -> Price | None:
    """Return what a model costs under a policy, None where nobody has said so.

    Raises ConfigurationError where `prices` cannot be read.
    """
    of_policy = None if spec is None else spec.model.price
    price = of_policy or price_of(model, read_prices(prices))
    if price is None and provider in FREE:
        return Price(input=0, output=0)
    return price


def _price(spec: PolicySpec, provider: Provider, prices: str) -> Price:
    price = price_for(spec, provider.name, provider.model, prices)
    if price is not None:
        return price
    raise ConfigurationError(
        f"This policy limits what a run may cost, and the price of {provider.model!r} is not "
        "known. Name it in TURNSTONE_PRICES, or as the `price` of the policy's model."
    )
