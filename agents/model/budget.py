"""What one run may spend on models, tokens and money, counted over all its attempts."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from agents.contracts import ModelCall
from agents.model.tokens import tokens
from agents.providers.price import Price, Pricing

_NONE: Mapping["Answerer", Pricing] = MappingProxyType({})
_DIGITS = 12  # binary fractions add up to a hair less than a limit that is reached


class Answerer(NamedTuple):
    """Who answers a call, as far as its price goes."""

    provider: str
    model: str


class Purse(Protocol):
    """What a model asks before each call, and tells after it."""

    @property
    def is_used_up(self) -> bool:
        """Tell whether no call may be made any more, but the last one for a partial answer."""
        ...

    @property
    def used(self) -> str:
        """Say in words what is used up."""
        ...

    def count(self, call: ModelCall) -> None:
        """Count a call."""
        ...


class Budget:
    """Count the tokens of a run against its limits; without a limit it is never used up.

    `price` is what the calls cost but for those of `prices`, which are of others who may answer.
    `earlier` are the tokens, given, made and cached, of each call of earlier attempts with who
    answered it. A call whose server counted nothing counts as what its texts come to.
    """

    def __init__(
        self,
        most_tokens: int | None = None,
        most_cost: float | None = None,
        price: Pricing | None = None,
        *,
        prices: Mapping[Answerer, Pricing] = _NONE,
        earlier: Iterable[tuple[Any, ...]] = (),
    ) -> None:
        self._most_tokens, self._most_cost = most_tokens, most_cost
        self._price = price or Price(input=0, output=0)
        self._prices = prices
        self._tokens, self._cost = 0, 0.0
        for of_call in earlier:
            self._add(*of_call)

    @property
    def cost(self) -> float:
        """Return what the calls so far come to, in US dollars."""
        return self._cost

    @property
    def is_used_up(self) -> bool:
        """Tell whether no call may be made any more, but the last one for a partial answer."""
        return self._is_over_tokens or self._is_over_cost

    @property
    def used(self) -> str:
        """Say in words what is used up."""
        if self._is_over_tokens:
            count = f"{self._tokens:,} of {self._most_tokens:,} tokens"
            return f"The run's budget is used up ({count})."
        return f"The run's budget is used up (${self.cost:.4f} of ${self._most_cost or 0:.4f})."

    def count(self, call: ModelCall) -> None:
        """Count a call."""
        given, made = call.usage.input_tokens, call.usage.output_tokens
        self._add(
            tokens(call.request) if given is None else given,
            tokens(call.reply + call.reasoning) if made is None else made,
            call.usage.cached_tokens or 0,
            Answerer(call.provider, call.model),
        )

    def _add(self, given: int, made: int, cached: int = 0, by: Answerer | None = None) -> None:
        self._tokens += given + made
        price = self._price if by is None else self._prices.get(by, self._price)
        self._cost = round(self._cost + price.of(given, made, cached), _DIGITS)

    @property
    def _is_over_tokens(self) -> bool:
        return self._most_tokens is not None and self._tokens >= self._most_tokens

    @property
    def _is_over_cost(self) -> bool:
        return self._most_cost is not None and self.cost >= self._most_cost
