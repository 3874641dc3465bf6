"""The providers that have names, as they go together."""

from collections.abc import Iterable, Iterator

from agents.errors import ConfigurationError
from agents.providers.named.provider import NamedProvider
from agents.providers.price import Price
from agents.providers.vendors import VENDORS


class NamedProviders:
    """The named providers, in the order they were given.

    Raises ConfigurationError where two have one name, or a second is not there, is the provider
    itself or leads back to it.
    """

    def __init__(self, providers: Iterable[NamedProvider] = ()) -> None:
        self._by_name: dict[str, NamedProvider] = {}
        for provider in providers:
            if provider.name in self._by_name:
                raise ConfigurationError(f"Two providers are named {provider.name!r}.")
            self._by_name[provider.name] = provider
        for provider in self:
            self._check_second(provider)

    def __iter__(self) -> Iterator[NamedProvider]:
        return iter(self._by_name.values())

    def __bool__(self) -> bool:
        return bool(self._by_name)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names."""
        return tuple(self._by_name)

    def get(self, name: str) -> NamedProvider | None:
        """Return the provider of a name, None where there is none."""
        return self._by_name.get(name)

    def price_of(self, name: str, model: str) -> Price | None:
        """Return what a model costs at a named provider, None where that is not said."""
        found = self.get(name)
        return None if found is None else found.price_of(model)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the variables that have keys."""
        return tuple(provider.key for provider in self if provider.key)

    @property
    def calls(self) -> dict[str, int]:
        """Return how many calls go at once, of those that say so."""
        return {one.name: one.calls for one in self if one.calls is not None}

    def _check_second(self, provider: NamedProvider) -> None:
        way = [provider.name]
        while second := self._by_name[way[-1]].second:
            if second == way[-1]:
                raise ConfigurationError(f"The provider {second!r} names itself as its second.")
            if second in way:
                circle = " → ".join((*way[way.index(second) :], second))
                raise ConfigurationError(f"The seconds of providers go in a circle: {circle}.")
            if second in VENDORS:
                return
            if second not in self._by_name:
                raise ConfigurationError(
                    f"The provider {way[-1]!r} names {second!r} as its second, and there is no "
                    "such provider."
                )
            way.append(second)


NO_NAMES = NamedProviders()
