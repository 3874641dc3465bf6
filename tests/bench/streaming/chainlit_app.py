"""The same load on Chainlit: a message makes the app say its tokens at the given rate."""

import asyncio
import os
import time

import chainlit  # type: ignore[import-not-found] # it has an environment of its own

TOKENS = int(os.environ["TOKENS"])
RATE = float(os.environ["RATE"])


@chainlit.on_message  # type: ignore[untyped-decorator]
async def answer(_: object) -> None:
    """Stream one message, token by token."""
    message = chainlit.Message(content="")
    due = time.monotonic()
    for _number in range(TOKENS):
        due += 1 / RATE
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        await message.stream_token(f"{time.monotonic_ns()};")
