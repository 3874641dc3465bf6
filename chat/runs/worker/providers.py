"""The models of real runs: a call to a server waits for its slot, in the queue of all workers."""

import logging
from collections.abc import Iterator

from django.conf import settings

from agents.errors import ConfigurationError
from agents.model.pool import Managed, ProviderManager, Wanted
from agents.model.second import Seconded
from agents.providers.address import is_loopback
from agents.providers.base import Provider
from agents.providers.brought import provider_names
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from chat.runs.worker.slots import RedisSlots
from chat.stream.streams import quick_client

logger = logging.getLogger(__name__)


class Providers:
    """A worker's way to models; it holds no key, and its limits are those of all workers."""

    def __init__(self) -> None:
        self._manager = ProviderManager(
            (*provider_names(), *settings.PROVIDERS.names),
            _make,
            RedisSlots(quick_client()),  # a stop is seen within a second, also when Redis hangs
            limit=settings.PROVIDER_LIMIT,
            limits=settings.PROVIDERS.calls,
            local_limit=settings.LOCAL_LIMIT,
        )

    def get(self, choice: ModelChoice, *, position: int = 0, gives_way: bool = False) -> Provider:
        """Return the provider of `choice`; `position` is the number of the run's calls before.

        Where it is a named one with a second, that is asked where the first does not answer. Calls
        of a run that gives way wait for those of all runs that do not. The demo and scripted models
        have nothing to wait for. Raises ConfigurationError.
        """
        provider = connect(
            choice, settings.MODEL_ENVIRONMENT, settings.PROVIDERS, position=position
        )
        if not provider.base_url:
            return provider
        first = self._managed(provider, gives_way)
        others = [self._managed(one, gives_way) for one in _seconds(provider)]
        return Seconded(first, *others) if others else first

    def close(self) -> None:
        """Close the providers that are idle."""
        self._manager.close()

    def _managed(self, provider: Provider, gives_way: bool) -> Provider:
        wanted = Wanted(
            provider=provider.name,
            model=provider.model,
            options={"base_url": provider.base_url},
            is_local=is_loopback(provider.base_url),
            gives_way=gives_way,
        )
        return Managed(self._manager, wanted, provider)


def _seconds(provider: Provider) -> Iterator[Provider]:
    """Yield who is asked where a provider does not answer, one after the other.

    One that cannot be had ends the line: it is no reason not to ask those before it.
    """
    named = settings.PROVIDERS.get(provider.name)
    while named is not None and named.second:
        second = settings.PROVIDERS.get(named.second)
        model = "" if second is None else second.standing_in_for(provider.model)
        try:
            yield _connected(ModelChoice(provider=named.second, model=model))
        except ConfigurationError as error:
            logger.warning("%s has no second: %s", named.name, error)
            return
        named = second


def _connected(choice: ModelChoice) -> Provider:
    return connect(choice, settings.MODEL_ENVIRONMENT, settings.PROVIDERS)


def _make(wanted: Wanted) -> Provider:
    fields = {"provider": wanted.provider, "model": wanted.model, **wanted.options}
    return _connected(ModelChoice.model_validate(fields))
