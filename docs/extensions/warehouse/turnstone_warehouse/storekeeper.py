"""The provider: a storekeeper who answers by rules. A real one posts `body` to a server."""

import json
import re

from agents.control import Control
from agents.providers.base import (
    Finish,
    IsShown,
    ModelRequest,
    Provider,
    Reply,
    Token,
    encoded,
    not_shown,
)
from turnstone_warehouse.stock import STOCK

SEEN = re.compile(r"<observation id[^>]*>\n(.*?)\n</observation", re.DOTALL)


class Storekeeper(Provider):
    """Look an article up, then say what was seen."""

    name = "storekeeper"
    model = "rules"

    def body(self, request: ModelRequest) -> str:
        """Return what would be posted."""
        return encoded({"messages": [message.content for message in request.messages]})

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Yield the reply word by word."""
        asked = json.loads(body)["messages"][-1]
        article = next((name for name in STOCK if name in asked), "nails")
        seen = SEEN.findall(asked)
        reply = f"I look it up.\nAction: stock\nAction Input: {article}\n"
        if seen:
            reply = f"I have seen it.\nFinal Answer: There are {seen[-1]} {article} in stock."
        for word in reply.split(" "):
            control.check()
            yield Token(text=f"{word} ")
        yield Finish(stop_reason="stop")
