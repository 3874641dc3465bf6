"""A model behind a server: what all dialects share of asking it."""

import json
import re
from abc import abstractmethod
from collections.abc import Collection
from functools import partial
from typing import Any, ClassVar

from agents.control import Control
from agents.errors import ContextOverflow
from agents.providers.abilities import UNKNOWN, Abilities
from agents.providers.base import (
    TOOLS,
    IsShown,
    ModelRequest,
    Provider,
    Reply,
    encoded,
    not_shown,
)
from agents.providers.choice import Credentials
from agents.providers.vendors import VENDORS, RemoteName
from agents.providers.wire.abilities import Ask
from agents.providers.wire.faults import Faults
from agents.providers.wire.output_bound import is_bound, refused_bound, within
from agents.providers.wire.replies import ChunkReader, read_reply
from agents.providers.wire.server import Send, shared

RETRIES = 2
"""How often a server is asked again that was busy or not reached."""

_HAS_NONE = re.compile(
    r"\btemperature\b.{0,40}(?:not support|deprecated|only be set to 1)"
    r"|unsupported .{0,20}\btemperature\b",
    re.IGNORECASE,
)
_NO_TOOLS = (400, 404, 422, 500)
"""How servers answer that know no tools: OpenRouter by 404, llama.cpp without a template by 500."""
_HAS_NO_TOOLS = re.compile(
    r"(?:not support|unsupported).{0,40}\b(?:tools?|functions?)\b(?!_)"
    r"|\b(?:tools?|functions?|function calling)\b(?!_).{0,40}(?:not support|unsupported)"
    r"|tool choice requires|tools param requires|support tool use",
    re.IGNORECASE,
)


class RemoteProvider(Provider):
    """Call one model of one server; the providers of a server share its connections."""

    dialect: ClassVar[RemoteName]
    retries = RETRIES
    address_hint: ClassVar[str] = ""

    def __init__(self, credentials: Credentials) -> None:
        self.name = credentials.name or self.dialect
        self.model = credentials.model
        self.base_url = credentials.base_url
        self._address = self.address(credentials.base_url.rstrip("/"))
        self._server = shared(
            self._address, credentials.api_key, self.sender, self._faults(credentials)
        )
        self._key = credentials.api_key

    @staticmethod
    @abstractmethod
    def sender(base_url: str, key: str) -> Send:
        """Return what posts to an address with a key, which may be the word for none."""

    @staticmethod
    def address(base_url: str) -> str:
        """Return the address that the path follows, from the one that was given."""
        return base_url

    @staticmethod
    def headers(key: str) -> dict[str, str]:
        """Return what says who asks, for questions about a model."""
        return {"Authorization": f"Bearer {key}"}

    def said_of_model(self, ask: Ask) -> Abilities:
        """Ask the server what the model can, in its own way, and read what it says."""
        return UNKNOWN

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

        That a model has no temperature to set is no fault of the request; a wrong one is. One that
        knows no tools is asked without them.
        """
        bound = refused_bound(said, posted) if status in (400, 413, 422) else None
        if bound is not None:
            return bound
        if status in _NO_TOOLS and TOOLS in posted and _HAS_NO_TOOLS.search(said):
            return TOOLS
        is_without = status in (400, 422) and "temperature" in posted and _HAS_NONE.search(said)
        return "temperature" if is_without else None

    def without(self, posted: dict[str, Any], parameter: str) -> dict[str, Any]:
        """Return what to post instead to a server that refuses `parameter`."""
        also = "tool_choice" if parameter == TOOLS else None
        return {name: posted[name] for name in posted if name not in (parameter, also)}

    def body(self, request: ModelRequest) -> str:
        """Return the JSON to post, without what the server has turned out not to take."""
        posted = self.parameters(request)
        for parameter in self._unwanted:
            posted = self._less(posted, parameter)
        return encoded(posted)

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Post `body` once and yield the tokens of the reply, then its Finish.

        Raises ParameterRefused for a parameter that the server does not take. How much the model
        takes is learnt from a request that is too long.
        """
        control.check()
        server = self._server
        try:
            with server.posted(self.path(), body, control, self._mended, is_shown) as pieces:
                yield from read_reply(pieces, self.reply(server.faults), pieces.end_soon)
                pieces.drain()
        except ContextOverflow as error:
            if error.length is not None:
                server.lengths[self.model] = error.length
            raise

    @property
    def context_length(self) -> int | None:
        """Return what a refusal has said of this model, else what the server says of it."""
        return self._server.lengths.get(self.model) or self.abilities.context_length

    @property
    def abilities(self) -> Abilities:
        """Return what the server has said of this model by now."""
        return self._server.learning.known(self.model)

    def learn(self, control: Control) -> None:
        """Ask the server what the model can, where that is due; one without tools gets none."""
        found = self._server.learning.learn(self.model, control, self._asked_of_model)
        if found.tools is False and not self.refuses(TOOLS):
            self.leave_out({TOOLS})

    def _asked_of_model(self, ask: Ask) -> Abilities:
        headers = self.headers(self._key.get_secret_value())
        return self.said_of_model(partial(ask, headers))

    def leave_out(self, parameters: Collection[str]) -> None:
        """Ask this model of the server without these parameters from now on."""
        self._server.unwanted[self.model] = self._unwanted.union(parameters)

    def refuses(self, parameter: str) -> bool:
        """Tell whether this model of the server has turned out not to take the parameter."""
        return parameter in self._unwanted

    def _faults(self, credentials: Credentials) -> Faults:
        if not credentials.name:
            vendor = VENDORS[self.dialect]
            return Faults(
                key_name=vendor.keys[0],
                address_name=vendor.address,
                address_hint=self.address_hint,
            )
        of_it = f"of the provider {credentials.name!r}"
        return Faults(
            key_name=credentials.key_name or f"the key {of_it}",
            address_name=f"the address {of_it}",
            address_hint=self.address_hint,
            model_name=f"the models {of_it}",
        )

    @property
    def thinks_first(self) -> bool | None:
        """Tell what this model of the server has turned out to do."""
        return self._server.thinks_first.get(self.model)

    def learn_thinking(self, is_first: bool) -> None:
        """Know it for this model of the server, whoever asks it."""
        self._server.thinks_first[self.model] = is_first

    @property
    def _unwanted(self) -> frozenset[str]:
        return self._server.unwanted.get(self.model, frozenset())

    def _mended(self, status: int, said: str, body: str) -> tuple[str, str] | None:
        posted = json.loads(body)
        parameter = self.refused(status, said, posted)
        if parameter is None:
            return None
        return parameter, encoded(self._less(posted, parameter))

    def _less(self, posted: dict[str, Any], parameter: str) -> dict[str, Any]:
        is_reply = is_bound(parameter)
        return within(posted, parameter) if is_reply else self.without(posted, parameter)
