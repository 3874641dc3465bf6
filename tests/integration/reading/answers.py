"""What a test reads of a response that is streamed."""

from typing import Any

from asgiref.sync import async_to_sync


def text_of(answer: Any) -> str:
    """Return all of it; it must be made beside other pages, which only an async one is."""
    assert answer.is_async

    async def whole() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(whole)().decode()
