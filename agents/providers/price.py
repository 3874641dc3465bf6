"""What calls cost, and prices that somebody has said: in a policy, or in TURNSTONE_PRICES."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple, Protocol

from pydantic import Field

from agents.contracts import Value
from agents.errors import ConfigurationError

_ENTRY = re.compile(r"(?P<models>[^\s=]+)=(?P<given>\d+(?:\.\d+)?)/(?P<made>\d+(?:\.\d+)?)")


class Pricing(Protocol):
    """What the calls to one model cost."""

    def of(self, given: float, made: float) -> float:
        """Return the US dollars for one call of so many tokens."""
        ...


class Price(Value):
    """US dollars for a million tokens that the model is given, and for a million that it makes."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, given: float, made: float) -> float:
        """Return the US dollars for so many tokens."""
        return (given * self.input + made * self.output) / 1_000_000


class Priced(NamedTuple):
    """The price of the models whose names fit; `*` stands for any characters."""

    models: str
    price: Price


def read_prices(text: str) -> tuple[Priced, ...]:
    """Read prices as in `gpt-4o-mini=0.15/0.60 claude-*=3/15`, in US dollars a million tokens.

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
            "million tokens, such as gpt-4o-mini=0.15/0.60; * stands for any characters."
        )
    price = Price(input=float(found["given"]), output=float(found["made"]))
    return Priced(found["models"], price)
