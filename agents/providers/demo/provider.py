"""The demo model as a provider: it reads the request that any model would get, and streams."""

import json
import re

from agents.control import Control
from agents.providers.base import Finish, IsShown, ModelRequest, Provider, Reply, Token, not_shown
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
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        body = {
            "model": self.model,
            "purpose": request.purpose,
            "as_json": request.as_json,
            "messages": messages,
        }
        return json.dumps(body, ensure_ascii=False)

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Yield the reply token by token; nothing is counted, so usage stays unknown."""
        control.check()
        for token in _TOKEN.findall(reply_to(read_request(body))):
            if self._rate is None:
                control.check()
            else:
                control.wait(1 / self._rate)
            yield Token(text=token)
        yield Finish(stop_reason="stop")
