"""The budget of one run, from its policy's limits and from what its model costs."""

from collections.abc import Iterable
from typing import Any

from agents.errors import ConfigurationError
from agents.model.budget import Answerer, Budget
from agents.policies.spec import PolicySpec
from agents.providers.base import Provider
from agents.providers.list_price import list_price_of
from agents.providers.named.providers import NO_NAMES, NamedProviders
from agents.providers.price import Price, Pricing, price_of, read_prices

FREE = frozenset({"demo", "scripted"})
"""Providers that nobody is paid for."""

SEVERAL = "A policy with models by role can limit its tokens, not what a run may cost."


def budget_for(
    spec: PolicySpec,
    provider: Provider,
    prices: str,
    named: NamedProviders = NO_NAMES,
    *,
    earlier: Iterable[tuple[Any, ...]] = (),
) -> Budget:
    """Return the budget of a run on `provider`, less the tokens that each earlier call took.

    Raises ConfigurationError where money is limited and it is not known what the model costs, or
    that of a provider that stands by, or where models by role share the limit.
    """
    limits = spec.limits
    if limits.cost is None:
        return Budget(limits.tokens, earlier=earlier)
    if spec.models:
        raise ConfigurationError(SEVERAL)
    price = _price(spec, provider, prices, named)
    # What a policy says of its model is not so of one that stands in for it.
    of_each = {
        Answerer(one.name, one.model): _price(None, one, prices, named) for one in provider.line[1:]
    }
    return Budget(limits.tokens, limits.cost, price, prices=of_each, earlier=earlier)


def price_for(
    spec: PolicySpec | None,
    provider: str,
    model: str,
    base_url: str,
    prices: str,
    named: NamedProviders = NO_NAMES,
) -> Pricing | None:
    """Return what a model costs under a policy, None where nobody knows.

    The price that its named provider has comes first, for it is that of the server that answers;
    then the policy's own, then `prices`, then the list price at the model's server.

    Raises ConfigurationError where `prices` cannot be read.
    """
    of_policy = None if spec is None else spec.choice_of(model).price
    price = named.price_of(provider, model) or of_policy or price_of(model, read_prices(prices))
    if price is None and provider in FREE:
        return Price(input=0, output=0)
    return price or list_price_of(model, base_url)


def _price(
    spec: PolicySpec | None, provider: Provider, prices: str, named: NamedProviders
) -> Pricing:
    price = price_for(spec, provider.name, provider.model, provider.base_url, prices, named)
    if price is not None:
        return price
    raise ConfigurationError(
        f"This policy limits what a run may cost, and the price of {provider.model!r} is not "
        "known. Name it in TURNSTONE_PRICES, as a price of its named provider, or as the `price` "
        "of the policy's model."
    )
