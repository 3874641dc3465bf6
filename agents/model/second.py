"""A provider with a second, which is asked where the first does not answer."""

import logging
import threading
from collections.abc import Collection
from contextlib import AbstractContextManager

from agents.control import Control
from agents.errors import (
    ProviderBusy,
    ProviderSilent,
    ProviderSlow,
    ProviderUnreachable,
)
from agents.providers.abilities import Abilities
from agents.providers.base import IsShown, ModelRequest, Provider, Reply, not_shown

PASSED_ON = (ProviderUnreachable, ProviderBusy, ProviderSilent, ProviderSlow)
"""What a server fails by that another may answer; a request that is refused is wrong anywhere."""

logger = logging.getLogger(__name__)


class Seconded(Provider):
    """One run's way to a provider, its second, and so on; `name` is that of who is asked now.

    Once passed on, the run stays there: a server that hangs would cost each call its patience.
    """

    def __init__(self, *line: Provider) -> None:
        self._line = line
        self._lock = threading.Lock()
        self._stand(0)

    @property
    def line(self) -> tuple[Provider, ...]:
        """Return all who may be asked, in order."""
        return self._line

    @property
    def asked(self) -> Provider:
        """Return who is asked now."""
        return self._line[self._at]

    @property
    def is_seconded(self) -> bool:
        """Tell whether there is one more to ask."""
        return self._at + 1 < len(self._line)

    def pass_on(self, failed: Provider, error: Exception) -> bool:
        """Ask the next one from now on, if `error` of `failed` is such; tell whether one is asked.

        Of two calls that fail at once only the first passes on.
        """
        if not isinstance(error, PASSED_ON):
            return False
        with self._lock:
            if self.asked is not failed:
                return True
            if not self.is_seconded:
                return False
            self._stand(self._at + 1)
        logger.warning("%s is asked in the place of %s: %s", self.name, failed.name, error)
        return True

    def body(self, request: ModelRequest) -> str:
        """Return the body to post to who is asked now."""
        return self.asked.body(request)

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Yield the reply of who is asked now."""
        yield from self.asked.stream(body, control, is_shown)

    def lease(self, control: Control) -> AbstractContextManager[Provider]:
        """Wait for a slot at who is asked now."""
        return self.asked.lease(control)

    def pause(self, seconds: float) -> bool:
        """Let nobody ask the server of who is asked now for so long."""
        return self.asked.pause(seconds)

    def leave_out(self, parameters: Collection[str]) -> None:
        """Ask who is asked now without these parameters."""
        self.asked.leave_out(parameters)

    def refuses(self, parameter: str) -> bool:
        """Tell whether who is asked now does not take this parameter."""
        return self.asked.refuses(parameter)

    @property
    def thinks_first(self) -> bool | None:
        """Tell what is known of who is asked now."""
        return self.asked.thinks_first

    def learn_thinking(self, is_first: bool) -> None:
        """Know it of who is asked now."""
        self.asked.learn_thinking(is_first)

    @property
    def context_length(self) -> int | None:
        """Return how many tokens the model takes that is asked now."""
        return self.asked.context_length

    @property
    def abilities(self) -> Abilities:
        """Return what is known of the model that is asked now."""
        return self.asked.abilities

    def learn(self, control: Control) -> None:
        """Ask the server of who is asked now what the model can."""
        self.asked.learn(control)

    def close(self) -> None:
        """Let go of all."""
        for provider in self._line:
            provider.close()

    def _stand(self, at: int) -> None:
        self._at = at
        asked = self._line[at]
        self.name, self.model = asked.name, asked.model
        self.base_url, self.retries = asked.base_url, asked.retries
