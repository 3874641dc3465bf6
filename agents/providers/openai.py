"""Any model server that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, ...

The SDK gives the key and the transport; the body is posted as it is and the stream is read here,
which costs a part of the SDK's time and does not grow with the history.
"""

import json
import logging
import random
from collections.abc import Iterator
from typing import Any

from agents.control import Control
from agents.errors import ProviderBusy, ProviderUnreachable
from agents.providers.base import Finish, ModelRequest, Token, encoded
from agents.providers.choice import Credentials
from agents.providers.faults import ParameterRefused
from agents.providers.server import shared

RETRIES = 2
FIRST_DELAY = 0.5
LONGEST_DELAY = 120.0
"""Seconds; a server that asks for more patience than this is not waited for."""

logger = logging.getLogger(__name__)


class OpenAIProvider:
    """Call one model of one server; the providers of a server share its connections."""

    name = "openai"

    def __init__(self, credentials: Credentials) -> None:
        self.model = credentials.model
        self._server = shared(credentials.base_url, credentials.api_key)

    def body(self, request: ModelRequest) -> str:
        """Return the JSON to post: parameters first, then the messages, which only grow."""
        body: dict[str, Any] = {
            "model": self.model,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body["max_tokens"] = request.max_tokens
        if request.stop:
            body["stop"] = list(request.stop)
        if request.as_json:
            body["response_format"] = {"type": "json_object"}
        body["messages"] = [{"role": m.role, "content": m.content} for m in request.messages]
        for parameter in self._unwanted:
            body = _without(body, parameter)
        return encoded(body)

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
                for item in self._server.reply(posted, control):
                    begun = True
                    if isinstance(item, Finish) and posted != body:
                        self._server.unwanted[self.model] = self._unwanted | left_out
                        item = item.model_copy(update={"body": posted})
                    yield item
                return
            except ParameterRefused as refusal:
                logger.info("%s knows no %s", self._server.place, refusal.parameter)
                posted = encoded(_without(json.loads(posted), refusal.parameter))
                left_out |= {refusal.parameter}
            except (ProviderUnreachable, ProviderBusy) as error:
                failures += 1
                if begun or failures > RETRIES:
                    raise
                _pause(error, failures, control)

    @property
    def _unwanted(self) -> frozenset[str]:
        return self._server.unwanted.get(self.model, frozenset())


def _pause(error: ProviderUnreachable | ProviderBusy, failures: int, control: Control) -> None:
    """Wait before the next try as the server asks, else longer each time; or give up at once."""
    delay = error.retry_after
    if delay is None:
        # Spread, so that runs which failed together do not come back together.
        delay = FIRST_DELAY * 2 ** (failures - 1) * random.uniform(0.75, 1.25)  # noqa: S311
    if delay > LONGEST_DELAY or delay >= control.remaining():
        raise error
    logger.info("Trying the model again in %.1f s: %s", delay, error)
    control.wait(delay)


def _without(body: dict[str, Any], parameter: str) -> dict[str, Any]:
    """Leave a parameter out, or give it the name that newer models know it by."""
    if parameter == "max_tokens":
        return {("max_completion_tokens" if k == parameter else k): v for k, v in body.items()}
    also = {"stream": "stream_options"}.get(parameter)
    return {name: value for name, value in body.items() if name not in (parameter, also)}
