"""The demo model as a provider: it reads the request that any model would get, and streams."""

import json
import re
from typing import Any

from agents.contracts import Message
from agents.control import Control
from agents.providers.base import Finish, IsShown, ModelRequest, Provider, Reply, Token, not_shown
from agents.providers.demo.formats.native import native_reply
from agents.providers.demo.formats.replies import reply_to
from agents.providers.demo.request import read_request

_TOKEN = re.compile(r"\s*\S{1,12}|\s+")
_TOKENS_PER_SECOND = 80.0


class DemoProvider(Provider):
    """Answer by rules, in the format that the policy asks for, at the pace of a model.

    `rate` is in tokens per second, None for no pace at all.
    """

    name = "demo"
    model = "rule-based"

    def __init__(self, rate: float | None = _TOKENS_PER_SECOND) -> None:
        self._rate = rate

    def body(self, request: ModelRequest) -> str:
        """Return the request as JSON, messages last."""
        body: dict[str, Any] = {
            "model": self.model,
            "purpose": request.purpose,
            "as_json": request.as_json,
        }
        if request.tools:
            body["tools"] = [tool.name for tool in request.tools]
        body["messages"] = [_message(message) for message in request.messages]
        return json.dumps(body, ensure_ascii=False)

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Yield the reply token by token; nothing is counted, so usage stays unknown."""
        control.check()
        request = read_request(body)
        said, calls = native_reply(request) if request.is_native else (reply_to(request), [])
        for token in _TOKEN.findall(said):
            if self._rate is None:
                control.check()
            else:
                control.wait(1 / self._rate)
            yield Token(text=token)
        yield from calls
        yield Finish(stop_reason="tool_calls" if calls else "stop")


def _message(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    return told if message.call is None else told | {"call": message.call.model_dump()}
