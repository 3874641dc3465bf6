"""A model behind a server: what all dialects share of asking it, and of asking it again."""

import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from agents.control import Control
from agents.errors import ProviderBusy, ProviderLimited, ProviderUnreachable
from agents.providers.base import Finish, ModelRequest, Token, encoded
from agents.providers.choice import Credentials, RemoteName
from agents.providers.discovery import VENDORS
from agents.providers.wire.delays import delay_after, may_wait
from agents.providers.wire.faults import Faults, ParameterRefused
from agents.providers.wire.replies import ChunkReader, read_reply
from agents.providers.wire.server import Send, shared

RETRIES = 2

_HAS_NONE = re.compile(
    r"\btemperature\b.{0,40}(?:not support|deprecated|only be set to 1)"
    r"|unsupported .{0,20}\btemperature\b",
    re.IGNORECASE,
)

logger = logging.getLogger(__name__)


class RemoteProvider(ABC):
    """Call one model of one server; the providers of a server share its connections.

    One that `is_managed` leaves it to whoever gave it its slot to wait, without the slot, for a
    server that limits its calls.
    """

    name: ClassVar[RemoteName]
    address_hint: ClassVar[str] = ""

    def __init__(self, credentials: Credentials) -> None:
        self.is_managed = False
        self.model = credentials.model
        self.base_url = credentials.base_url
        vendor = VENDORS[self.name]
        self._server = shared(
            self.address(credentials.base_url.rstrip("/")),
            credentials.api_key,
            self.sender,
            Faults(
                key_name=vendor.keys[0],
                address_name=vendor.address,
                address_hint=self.address_hint,
            ),
        )

    @staticmethod
    @abstractmethod
    def sender(base_url: str, key: str) -> Send:
        """Return what posts to an address with a key, which may be the word for none."""

    @staticmethod
    def address(base_url: str) -> str:
        """Return the address that the path follows, from the one that was given."""
        return base_url

    @abstractmethod
    def path(self) -> str:
        """Return where to post, behind the server's address."""

    @abstractmethod
    def parameters(self, request: ModelRequest) -> dict[str, Any]:
        """Return what to post: parameters first, then the messages, which only grow."""

    @abstractmethod
    def reply(self, faults: Faults) -> ChunkReader:
        """Return the reader of one reply."""

    def refused(self, status: int, said: str, posted: dict[str, Any]) -> str | None:
        """Name the parameter that the server cannot take and the request can do without.

        That a model has no temperature to set is no fault of the request; a wrong one is.
        """
        is_without = status in (400, 422) and "temperature" in posted and _HAS_NONE.search(said)
        return "temperature" if is_without else None

    def without(self, posted: dict[str, Any], parameter: str) -> dict[str, Any]:
        """Return what to post instead to a server that refuses `parameter`."""
        return {name: value for name, value in posted.items() if name != parameter}

    def body(self, request: ModelRequest) -> str:
        """Return the JSON to post, without what the server has turned out not to take."""
        posted = self.parameters(request)
        for parameter in self._unwanted:
            posted = self.without(posted, parameter)
        return encoded(posted)

    def stream(self, body: str, control: Control) -> Iterator[Token | Finish]:
        """Post `body` and yield the reply; try again while nothing of it has come.

        A parameter that the server does not take is left out, from then on too; the Finish says
        what was posted instead of `body`.
        """
        posted, left_out = body, self._unwanted
        failures = 0
        begun = False
        while True:
            control.check()
            try:
                for item in self._once(posted, control):
                    begun = True
                    if isinstance(item, Finish) and posted != body:
                        self._server.unwanted[self.model] = self._unwanted | left_out
                        item = item.model_copy(update={"body": posted})
                    yield item
                return
            except ParameterRefused as refusal:
                logger.info("%s knows no %s", self._server.place, refusal.parameter)
                posted = encoded(self.without(json.loads(posted), refusal.parameter))
                left_out |= {refusal.parameter}
            except (ProviderUnreachable, ProviderBusy) as error:
                failures += 1
                is_others = self.is_managed and isinstance(error, ProviderLimited)
                if begun or is_others or failures > RETRIES:
                    raise
                delay = delay_after(error, failures)
                if not may_wait(delay, control):
                    raise
                logger.info("Trying the model again in %.1f s: %s", delay, error)
                control.wait(delay)

    @property
    def _unwanted(self) -> frozenset[str]:
        return self._server.unwanted.get(self.model, frozenset())

    def _once(self, body: str, control: Control) -> Iterator[Token | Finish]:
        """Post `body` once and yield the tokens of the reply, then its Finish."""
        server = self._server
        with server.posted(self.path(), body, control, self.refused) as pieces:
            yield from read_reply(pieces, self.reply(server.faults), pieces.end_soon)
            pieces.drain()
