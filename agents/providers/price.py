"""What calls cost, and prices that somebody has said: in a policy, or in TURNSTONE_PRICES."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, Protocol

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from agents.contracts import Value
from agents.errors import ConfigurationError

_ENTRY = re.compile(
    r"(?P<models>[^\s=]+)=(?P<given>\d+(?:\.\d+)?)/(?P<made>\d+(?:\.\d+)?)"
    r"(?:/(?P<cached>\d+(?:\.\d+)?))?"
)


class Pricing(Protocol):
    """What the calls to one model cost."""

    def of(self, given: float, made: float, cached: float = 0) -> float:
        """Return the US dollars for one call; of the tokens given so many were cached."""
        ...


class Price(Value):
    """US dollars for a million tokens that the model is given, and for a million that it makes.

    `cached` is for a million given ones that the server had cached; None where they cost the same.
    """

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is not said, so that a policy's digest is what it was."""
        return {name: value for name, value in write(self).items() if value is not None}

    def of(self, given: float, made: float, cached: float = 0) -> float:
        """Return the US dollars for so many tokens; of those given so many were cached."""
        cached = 0 if self.cached is None else min(cached, given)
        paid = (given - cached) * self.input + cached * (self.cached or 0) + made * self.output
        return paid / 1_000_000


class Priced(NamedTuple):
    """The price of the models whose names fit; `*` stands for any characters."""

    models: str
    price: Price


def read_prices(text: str) -> tuple[Priced, ...]:
    """Read prices as in `gpt-4o-mini=0.15/0.60 claude-*=3/15/0.3`, in US dollars a million tokens.

    A third price is that of tokens that the server had cached.
    Raises ConfigurationError naming the entry that cannot be read.
    """
    return tuple(_priced(entry) for entry in text.replace(",", " ").split())


def price_of(model: str, prices: Sequence[Priced]) -> Price | None:
    """Return the price of a model: that of the first entry that fits, None without one."""
    fitting = (priced.price for priced in prices if fnmatchcase(model, priced.models))
    return next(fitting, None)


def _priced(entry: str) -> Priced:
    found = _ENTRY.fullmatch(entry)
    if found is None:
        raise ConfigurationError(
            f"TURNSTONE_PRICES: {entry!r} is no price. Write model=input/output in US dollars per "
            "million tokens, such as gpt-4o-mini=0.15/0.60, or model=input/output/cached; * stands "
            "for any characters."
        )
    cached = None if found["cached"] is None else float(found["cached"])
    price = Price(input=float(found["given"]), output=float(found["made"]), cached=cached)
    return Priced(found["models"], price)
