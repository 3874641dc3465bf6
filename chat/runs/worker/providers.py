"""The models of real runs: a call to a server waits for its slot, in the queue of all workers."""

from django.conf import settings

from agents.model.pool import Managed, ProviderManager, Wanted
from agents.providers.address import is_loopback
from agents.providers.base import Provider
from agents.providers.brought import provider_names
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from chat.runs.worker.slots import RedisSlots
from chat.stream.streams import quick_client


class Providers:
    """A worker's way to models; it holds no key, and its limits are those of all workers."""

    def __init__(self) -> None:
        self._manager = ProviderManager(
            provider_names(),
            _make,
            RedisSlots(quick_client()),  # a stop is seen within a second, also when Redis hangs
            limit=settings.PROVIDER_LIMIT,
            local_limit=settings.LOCAL_LIMIT,
        )

    def get(self, choice: ModelChoice, *, position: int = 0, gives_way: bool = False) -> Provider:
        """Return the provider of `choice`; `position` is the number of the run's calls before.

        Calls of a run that gives way wait for those of all runs that do not. The demo and scripted
        models have nothing to wait for. Raises ConfigurationError.
        """
        provider = connect(choice, settings.MODEL_ENVIRONMENT, position=position)
        if not provider.base_url:
            return provider
        wanted = Wanted(
            provider=provider.name,
            model=provider.model,
            options={"base_url": provider.base_url},
            is_local=is_loopback(provider.base_url),
            gives_way=gives_way,
        )
        return Managed(self._manager, wanted, provider)

    def close(self) -> None:
        """Close the providers that are idle."""
        self._manager.close()


def _make(wanted: Wanted) -> Provider:
    fields = {"provider": wanted.provider, "model": wanted.model, **wanted.options}
    return connect(ModelChoice.model_validate(fields), settings.MODEL_ENVIRONMENT)
