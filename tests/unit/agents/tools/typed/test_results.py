"""What a tool returns becomes an observation in one plain way, also when it is awaited."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from pydantic import BaseModel

from agents.contracts import EndReason, Image, Observation, ToolCall
from agents.control import Control
from agents.errors import Stopped
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit

PIXEL = Image(media_type="image/png", data="aGk=")


@dataclass
class Point:
    x: int
    y: float


class Town(BaseModel):
    name: str
    at: Point


class Colour(StrEnum):
    RED = "red"


class Bare:
    pass


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        (0, "0"),
        (0.5, "0.5"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        ({"a": 1, "b": [2, None]}, '{"a": 1, "b": [2, null]}'),
        (["alpha", "bêta"], '["alpha", "bêta"]'),
        ([], "[]"),
        ((1, 2), "[1, 2]"),
        (Point(1, 2.5), '{"x": 1, "y": 2.5}'),
        (Town(name="Rome", at=Point(1, 2.5)), '{"name": "Rome", "at": {"x": 1, "y": 2.5}}'),
        ({"on": date(2026, 1, 2), "sum": Decimal("1.10")}, '{"on": "2026-01-02", "sum": "1.10"}'),
        (Colour.RED, "red"),
        (b"bytes", '"bytes"'),
    ],
)
def test_any_value_is_told_as_text_or_json(
    observe: Callable[..., Any], result: Any, text: str
) -> None:
    @tool()
    def give() -> Any:
        """Give it."""
        return result

    assert observe(give).observation == Observation(text=text)


def test_what_has_no_text_is_an_error_and_no_address(observe: Callable[..., Any]) -> None:
    @tool()
    def give() -> Bare:
        """Give what cannot be told."""
        return Bare()

    seen = observe(give).observation

    assert (seen.text, seen.error) == ("It returned a Bare, which has no text.", "ToolFailed")


def test_a_value_that_holds_itself_is_an_error(observe: Callable[..., Any]) -> None:
    @tool()
    def give() -> list[Any]:
        """Give a list that is in itself."""
        ring: list[Any] = []
        ring.append(ring)
        return ring

    assert observe(give).observation.error == "ToolFailed"


def test_values_that_are_yielded_beside_text_stand_on_lines(observe: Callable[..., Any]) -> None:
    @tool()
    def stream() -> Iterator[Any]:
        """Yield a few."""
        yield "found: "
        yield {"n": 1}
        yield 2

    seen = observe(stream)

    assert seen.deltas[0] == "found: "
    assert seen.observation.text == 'found: {"n": 1}\n2\n'


def test_a_picture_may_be_returned_alone_or_in_a_list(observe: Callable[..., Any]) -> None:
    @tool()
    def draw(many: bool) -> Any:
        """Draw it."""
        return ["Here it is.", PIXEL] if many else PIXEL

    assert observe(draw, {"many": False}).observation == Observation(text="", images=(PIXEL,))
    assert observe(draw, {"many": True}).observation.images == (PIXEL,)


@pytest.mark.parametrize(("result", "answer"), [(0, "0"), (False, "false"), ({}, "{}")])
def test_what_counts_as_nothing_in_python_is_an_answer(
    observe: Callable[..., Any], result: Any, answer: str
) -> None:
    @tool(terminal=True)
    def finish() -> Any:
        """Finish with a result."""
        return result

    assert observe(finish).observation == Observation(text=answer, ends=EndReason.ANSWERED)


def test_a_terminal_tool_that_returns_none_has_said_nothing(observe: Callable[..., Any]) -> None:
    @tool(terminal=True)
    def finish() -> None:
        """Finish without a word."""

    assert observe(finish).observation == Observation(text="")


def test_an_async_tool_runs(observe: Callable[..., Any]) -> None:
    @tool()
    async def add(a: int, b: int) -> dict[str, int]:
        """Add two numbers."""
        await asyncio.sleep(0)
        return {"sum": a + b}

    assert observe(add, {"a": 1, "b": 2}).observation == Observation(text='{"sum": 3}')


def test_what_an_async_tool_yields_is_streamed(observe: Callable[..., Any]) -> None:
    @tool()
    async def count(to: int) -> AsyncIterator[str]:
        """Count."""
        for number in range(to):
            yield f"{number} "

    seen = observe(count, {"to": 3})

    assert "".join(seen.deltas) == seen.observation.text == "0 1 2 "


def test_what_an_async_tool_raises_is_its_own(observe: Callable[..., Any]) -> None:
    @tool()
    async def fail() -> str:
        """Fail."""
        raise ValueError("n must be at most 3")

    assert observe(fail).observation.text == "ValueError: n must be at most 3"


@pytest.mark.parametrize("is_streaming", [False, True])
def test_an_async_tool_is_cancelled_when_the_run_stops(is_streaming: bool) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    @tool()
    async def sleep() -> str:
        """Sleep for ever."""
        await wait()
        return "never"

    @tool(timeout=30)
    async def trickle() -> AsyncIterator[str]:
        """Yield never."""
        await wait()
        yield "never"

    control = Control()
    asked = trickle if is_streaming else sleep
    events = Toolkit([asked]).call(ToolCall(tool=asked.name, inputs={}), control)

    def stop() -> None:
        begun.wait(10)
        control.stop()

    threading.Thread(target=stop, daemon=True).start()

    with pytest.raises(Stopped):
        next(events)

    assert ended.wait(10)


def test_an_async_tool_ends_with_its_own_time(observe: Callable[..., Any]) -> None:
    ended = threading.Event()

    @tool(timeout=0.2)
    async def sleep() -> None:
        """Sleep for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    assert observe(sleep).observation.error == "ToolTimeout"
    assert ended.wait(10)
