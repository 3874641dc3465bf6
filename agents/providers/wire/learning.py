"""Ask a server what its models can: once for each, kept for an hour, and never in a run's way."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpcore2
import httpx2

from agents.control import Control
from agents.errors import AgentError, Halted
from agents.providers.abilities import UNKNOWN, Abilities
from agents.providers.wire.abilities import Ask, is_known
from agents.providers.wire.transport import Transport, watched

ASK_SECONDS = 1.0
"""What all questions about one model may take; a server that is later is asked without knowing."""
KEPT_SECONDS = 3_600.0
KEPT_SILENCE = 300.0
"""How long a server that says nothing is not asked again."""
MOST_MODELS = 200
ANSWER_BYTES = 4_000_000
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "turnstone",
}

logger = logging.getLogger(__name__)


class Learning:
    """What one server has said of its models; safe to share between threads.

    While one thread asks, the others go on with what is known. `clock` counts seconds.
    """

    def __init__(
        self, transport: Transport, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._asking = threading.Lock()
        self._kept: dict[str, tuple[float, Abilities]] = {}

    def known(self, model: str) -> Abilities:
        """Return what is known of a model, whether or not it is fresh."""
        return self._kept.get(model, (0.0, UNKNOWN))[1]

    def learn(self, model: str, control: Control, read: Callable[[Ask], Abilities]) -> Abilities:
        """Return what is known of a model; ask for it first where that is due.

        Raises only what halts the run.
        """
        until, known = self._kept.get(model, (0.0, UNKNOWN))
        if self._clock() < until or not self._asking.acquire(blocking=False):
            return known
        try:
            found = self._asked(control, read)
            known = found if is_known(found) else known
            kept = KEPT_SECONDS if is_known(found) else KEPT_SILENCE
            self._kept.pop(model, None)
            self._kept[model] = self._clock() + kept, known
            if len(self._kept) > MOST_MODELS:
                del self._kept[next(iter(self._kept))]
            return known
        finally:
            self._asking.release()

    def _asked(self, control: Control, read: Callable[[Ask], Abilities]) -> Abilities:
        said: list[Any] = []

        def ask(
            headers: Mapping[str, str], url: str, posted: Mapping[str, Any] | None = None
        ) -> Any:
            said.append(url)
            request = httpx2.Request(
                "GET" if posted is None else "POST",
                url,
                headers=_HEADERS | dict(headers),
                content=None if posted is None else json.dumps(posted).encode(),
            )
            return self._answer(request, control)

        try:
            with control.calling_at_most(ASK_SECONDS):
                return read(ask)
        except Halted:
            raise
        except (
            *(AgentError, ValueError, RecursionError, OSError, httpx2.InvalidURL),
            *(httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException),
            *(httpcore2.ProxyError, httpcore2.UnsupportedProtocol),
        ) as error:
            logger.info("What a model can was not learnt at %s: %s", said[-1:], error)
            return UNKNOWN

    def _answer(self, request: httpx2.Request, control: Control) -> Any:
        body = b""
        with watched(control, ASK_SECONDS):
            response = self._transport.handle_request(request)
            try:
                if response.status_code != httpx2.codes.OK:
                    return None
                for piece in response.iter_bytes():
                    body += piece
                    control.check()
                    if len(body) > ANSWER_BYTES:
                        raise ValueError("the answer is too long")
            finally:
                response.close()
        return json.loads(body)
