"""What a page has sent and has not been granted yet: bounded in number, in length and in rate."""

import asyncio
import time

MAX_WAITING = 50
MAX_CHARACTERS = 2_000_000
"""What may wait for a slow database: two of the longest questions and a little."""

BURST = 100
PER_SECOND = 10.0
"""How many messages may come at once, and how fast the allowance for them grows again."""


class Inbox:
    """Keep a page's messages in order until somebody takes them, and notice a flood."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._characters = 0
        self._allowance = float(BURST)
        self._counted = time.monotonic()

    def put(self, text: str | None) -> bool:
        """Keep a message, and tell whether there was room; without, its sender floods us."""
        now = time.monotonic()
        earned = (now - self._counted) * PER_SECOND
        self._allowance = min(BURST, self._allowance + earned) - 1
        self._counted = now
        self._characters += len(text or "")
        self._messages.put_nowait(text)
        return (
            self._allowance >= 0
            and self._messages.qsize() <= MAX_WAITING
            and self._characters <= MAX_CHARACTERS
        )

    async def get(self) -> str | None:
        """Return the oldest message, as soon as there is one."""
        text = await self._messages.get()
        self._characters -= len(text or "")
        return text
