"""A named provider: a server of models under a name, one of several of its dialect."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from pydantic import Field, field_validator

from agents.contracts import Value
from agents.errors import ConfigurationError
from agents.providers.address import origin
from agents.providers.brought import OURS
from agents.providers.price import Price
from agents.providers.vendors import VENDORS, RemoteName

RESERVED = OURS
"""Names that have a meaning already; those of the dialects stand for what the environment says."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class NamedProvider(Value):
    """A server of models under a name, as runs, slots and the page call it.

    `address` is empty for the vendor's own. `key` names the variable of the environment that has
    the key, which is written nowhere else; without one the server gets none. `calls` is how many
    may be under way at once, None for what is so for all. `models` are those that people may
    choose, the first where nobody chose. `second` is asked where this one does not answer.
    `prices` are US dollars a million tokens, by model; `*` stands for any characters.
    """

    name: str
    dialect: RemoteName
    address: str = ""
    key: str = ""
    calls: int | None = Field(default=None, ge=0)
    models: tuple[str, ...] = ()
    second: str = ""
    prices: Mapping[str, Price] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if _NAME.fullmatch(name) is None:
            raise ValueError(
                f"{name!r} is no name: write small letters, digits, '.', '_' and '-', at most 40"
            )
        if name in RESERVED:
            raise ValueError(
                f"{name!r} has a meaning already; give the provider another name, such as {name}-2"
            )
        return name

    @field_validator("address")
    @classmethod
    def _is_an_address(cls, address: str) -> str:
        try:
            return address if not address or origin(address, "It") else ""
        except ConfigurationError as error:
            raise ValueError(str(error)) from None

    @field_validator("key")
    @classmethod
    def _names_a_variable(cls, key: str) -> str:
        # What was written is not repeated: it may well be the key itself.
        if key and _VARIABLE.fullmatch(key) is None:
            raise ValueError(
                "it must name the variable of the environment that has the key, such as "
                "EAST_API_KEY, and never be the key itself"
            )
        return key

    @field_validator("models")
    @classmethod
    def _has_models(cls, models: tuple[str, ...]) -> tuple[str, ...]:
        if not all(model.strip() and len(model) <= 200 for model in models):
            raise ValueError("each model needs a name of at most 200 characters")
        if len(set(models)) < len(models):
            raise ValueError("a model is named twice")
        return models

    @property
    def base_url(self) -> str:
        """Return where its server is."""
        return self.address or VENDORS[self.dialect].base_url

    def has_key(self, environment: Mapping[str, str]) -> bool:
        """Tell whether the environment has the key, or none is needed."""
        return not self.key or bool(environment.get(self.key, "").strip())

    def price_of(self, model: str) -> Price | None:
        """Return what a model costs here, by the first entry that fits; None where none does."""
        fitting = (price for models, price in self.prices.items() if fnmatchcase(model, models))
        return next(fitting, None)

    def standing_in_for(self, model: str) -> str:
        """Return the model that stands in for another provider's: the same, or else the first."""
        return model if model in self.models or not self.models else self.models[0]
