"""The WebSocket of one page: a viewer at the end of a line that carries frames both ways."""

import asyncio
import logging
from contextlib import suppress

from autobahn.exception import Disconnected
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from chat.live.inbox import Inbox
from chat.live.viewer import Viewer

logger = logging.getLogger(__name__)

MAX_UNREAD = 8_000_000
"""Characters sent since the page's last ping; who is further behind is cut off, and may resume."""

FLOODED, BROKEN = 4429, 1011


class ConversationConsumer(AsyncWebsocketConsumer):
    """Serve one socket on one conversation.

    Messages are taken off the server's unbounded queue as they come and wait in a bounded one.
    """

    async def connect(self) -> None:
        """Accept the socket before looking who it is, so that a page learns why it is closed."""
        self._viewer = Viewer(
            self.scope["url_route"]["kwargs"]["conversation_id"],
            self.scope["cookies"].get(settings.SESSION_COOKIE_NAME),
            self._send_text,
            self.close,
            MAX_UNREAD,
        )
        self._inbox = Inbox()
        await self.accept()
        self._serving = asyncio.create_task(self._serve())

    async def disconnect(self, code: int) -> None:
        """Follow nothing more."""
        self._serving.cancel()
        await self._viewer.close()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Keep a message for the viewer; who sends more than any page would is cut off."""
        if not self._serving.done() and not self._inbox.put(text_data):
            self._serving.cancel()
            await self._viewer.close()
            await self.close(FLOODED)

    async def _serve(self) -> None:
        try:
            await self._viewer.open()
            while self._viewer.is_open:
                await self._viewer.receive(await self._inbox.get())
        except Exception:
            logger.exception("A socket failed")
            await self._viewer.close()
            await self.close(BROKEN)

    async def _send_text(self, text: str) -> None:
        with suppress(Disconnected, OSError):
            # The page may have gone: then `disconnect` follows and ends the rest.
            await self.base_send({"type": "websocket.send", "text": text, "bytes": None})
