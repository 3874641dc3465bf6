"""The access log: a line for each page and each live connection, never with a query in it."""

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

logger = logging.getLogger("turnstone.access")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]

ROUTINE = "/static/"
ROUTINE_PATHS = ("/healthz", "/readyz", "/metrics")


def logged(application: Application) -> Application:
    """Wrap an ASGI application so that each request leaves a line when its answer begins.

    Routine requests leave one only if they fail; health checks and scrapes tell of failures in
    their own words.
    """

    async def wrapper(scope: Message, receive: Receive, send: Send) -> None:
        began = time.monotonic()

        async def noted(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept", "websocket.close"):
                _note(scope, message, time.monotonic() - began)
            await send(message)

        await application(scope, receive, noted)

    return wrapper


def _note(scope: Message, message: Message, seconds: float) -> None:
    path = scope["path"]
    if message["type"] == "http.response.start":
        status = message["status"]
        if path in ROUTINE_PATHS or (status < 400 and path.startswith(ROUTINE)):
            return
        level = logging.WARNING if status >= 500 else logging.INFO
        logger.log(level, "%s %s %d, %.0f ms", scope["method"], path, status, seconds * 1000)
    else:
        logger.info("%s %s", message["type"], path)
