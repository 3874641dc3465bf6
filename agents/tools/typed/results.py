"""What a tool's function returns, as the pieces of an observation: text as it is, the rest as JSON.

An async function, or one that yields, runs in the thread of its call, and is ended with it.
"""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from agents.contracts import Image
from agents.control import Control
from agents.errors import ToolFailed
from agents.waiting import SLICE

_ENDING_SECONDS = 5.0
"""Seconds that an async tool has to end once it is cancelled."""


def pieces_of(result: Any, control: Control) -> Iterator[str | Image]:
    """Yield a result as text and images; what an iterator yields follows as it comes.

    Anything but text is written as JSON, also a list, a dataclass, a pydantic model and None. What
    is yielded beside text stands on a line of its own. Raises ToolFailed for what has no text, what
    the tool raises, and what `control.check` raises while an async tool is awaited.
    """
    if inspect.isawaitable(result):
        with asyncio.Runner() as runner:
            result = runner.run(_heeding(result, control))
    if isinstance(result, AsyncIterator):
        result = _drained(result, control)
    if isinstance(result, Iterator):
        return _each(result)
    if isinstance(result, list | tuple) and any(isinstance(part, Image) for part in result):
        return _each(iter(result))
    return iter((_piece(result),))


def as_text(value: Any) -> str:
    """Return text as it is and any other value as JSON; raises ToolFailed for what has none."""
    if isinstance(value, str):
        return str(value)
    try:
        plain = to_jsonable_python(value, fallback=_said, bytes_mode="utf8")
        return json.dumps(plain, ensure_ascii=False)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise ToolFailed(f"It returned a {type(value).__name__}, which has no text.") from error


def _each(results: Iterator[Any]) -> Iterator[str | Image]:
    try:
        for result in results:
            yield _piece(result, end="\n")
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()


def _piece(result: Any, end: str = "") -> str | Image:
    if isinstance(result, Image):
        return result
    return as_text(result) if isinstance(result, str) else as_text(result) + end


def _said(value: object) -> str:
    """Return what an object says of itself; raises TypeError where that is only where it lies."""
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise TypeError
    return str(value)


def _drained(results: AsyncIterator[Any], control: Control) -> Iterator[Any]:
    with asyncio.Runner() as runner:
        try:
            while True:
                try:
                    yield runner.run(_heeding(anext(results), control))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(results, "aclose", None)
            if close is not None:
                runner.run(close())


async def _heeding(work: Awaitable[Any], control: Control) -> Any:
    """Return what is awaited; it is cancelled once the control says so, and given time to end."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            control.check()
            await asyncio.wait({task}, timeout=min(SLICE, max(0.001, control.remaining())))
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_ENDING_SECONDS)
    return task.result()
