"""The budget of one run, from its policy's limits and from what its model costs."""

from collections.abc import Iterable

from agents.errors import ConfigurationError
from agents.model.budget import Budget
from agents.policies.spec import PolicySpec
from agents.providers.base import Provider
from agents.providers.list_price import list_price_of
from agents.providers.price import Price, Pricing, price_of, read_prices

FREE = frozenset({"demo", "scripted"})
"""Providers that nobody is paid for."""

SEVERAL = "A policy with models by role can limit its tokens, not what a run may cost."


def budget_for(
    spec: PolicySpec,
    provider: Provider,
    prices: str,
    *,
    earlier: Iterable[tuple[int, ...]] = (),
) -> Budget:
    """Return the budget of a run on `provider`, less the tokens that each earlier call took.

    Raises ConfigurationError where money is limited and what the model costs is not known, or
    where several models share the limit.
    """
    if spec.limits.cost is not None and spec.models:
        raise ConfigurationError(SEVERAL)
    price = _price(spec, provider, prices) if spec.limits.cost is not None else None
    return Budget(spec.limits.tokens, spec.limits.cost, price, earlier=earlier)


def price_for(
    spec: PolicySpec | None, provider: str, model: str, base_url: str, prices: str
) -> Pricing | None:
    """Return what a model costs under a policy, None where nobody knows.

    The policy's own price comes first, then `prices`, then the list price at the model's server.

    Raises ConfigurationError where `prices` cannot be read.
    """
    of_policy = None if spec is None else spec.choice_of(model).price
    price = of_policy or price_of(model, read_prices(prices))
    if price is None and provider in FREE:
        return Price(input=0, output=0)
    return price or list_price_of(model, base_url)


def _price(spec: PolicySpec, provider: Provider, prices: str) -> Pricing:
    price = price_for(spec, provider.name, provider.model, provider.base_url, prices)
    if price is not None:
        return price
    raise ConfigurationError(
        f"This policy limits what a run may cost, and the price of {provider.model!r} is not "
        "known. Name it in TURNSTONE_PRICES, or as the `price` of the policy's model."
    )
