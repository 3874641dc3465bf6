"""A call becomes an observation whatever the tool does."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.contracts import Image, Observation, ToolCall
from agents.control import Control
from agents.errors import ProviderBusy, ToolFailed
from agents.tools.output import LIMIT
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit


def test_a_text_is_the_observation(observe: Callable[..., Any]) -> None:
    @tool()
    def echo(text: str) -> str:
        """Say it again."""
        return text

    seen = observe(echo, {"text": "hello"})

    assert (seen.observation.text, seen.observation.error) == ("hello", None)


def test_an_iterator_streams_piece_by_piece(observe: Callable[..., Any]) -> None:
    @tool()
    def count() -> Iterator[str]:
        """Count."""
        yield from ("a", "", "b", "c")

    seen = observe(count)

    assert seen.deltas == ["a", "b", "c"]
    assert seen.observation.text == "abc"


def test_a_piece_is_shown_before_the_tool_has_ended() -> None:
    may_go_on = threading.Event()

    @tool()
    def slow() -> Iterator[str]:
        """Wait between two pieces."""
        yield "first"
        may_go_on.wait()
        yield "second"

    events = Toolkit([slow]).call(ToolCall(tool="slow", inputs={}), Control())
    first = next(events).text
    may_go_on.set()

    assert (first, [event.text for event in events]) == ("first", ["second"])


def test_an_unknown_tool_is_an_observation(observe: Callable[..., Any]) -> None:
    events = Toolkit().call(ToolCall(tool="nope", inputs={}), Control())

    with pytest.raises(StopIteration) as end:
        next(events)

    assert end.value.value.error == "ToolNotFound"
    assert end.value.value.text == "Unknown tool: nope. Available tools: none."


def test_wrong_inputs_are_an_observation_and_the_tool_does_not_run(
    observe: Callable[..., Any],
) -> None:
    ran = []

    @tool()
    def square(number: int) -> str:
        """Square a number."""
        ran.append(number)
        return str(number**2)

    seen = observe(square, {"number": "many"})

    assert seen.observation.error == "InvalidInputs"
    assert ran == []


def test_the_words_of_a_failed_tool_reach_the_model(observe: Callable[..., Any]) -> None:
    @tool()
    def fail() -> str:
        """Fail."""
        raise ToolFailed("The file is locked.")

    seen = observe(fail)

    assert (seen.observation.text, seen.observation.error) == ("The file is locked.", "ToolFailed")


def test_any_error_of_the_engine_keeps_its_name(observe: Callable[..., Any]) -> None:
    @tool()
    def ask() -> str:
        """Ask a server."""
        raise ProviderBusy("Try later.")

    assert observe(ask).observation.error == "ProviderBusy"


def test_an_unknown_error_tells_the_model_its_kind_and_the_log_the_rest(
    observe: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    @tool()
    def leak() -> str:
        """Break with a secret in the message."""
        raise RuntimeError("/etc/keys: sk-123")

    with caplog.at_level(logging.ERROR, logger="agents.tools"):
        seen = observe(leak)

    assert seen.observation.error == "ToolFailed"
    assert seen.observation.text.startswith("UnexpectedError: leak broke (RuntimeError)")
    assert "sk-123" not in seen.observation.text
    assert "sk-123" in caplog.text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("n must be at most 3"), "ValueError: n must be at most 3"),
        (KeyError("London"), "KeyError: London"),
        (IndexError(), "IndexError"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), "UnicodeDecodeError: 'utf-8' codec"),
    ],
)
def test_what_a_wrong_value_or_a_failed_look_up_says_reaches_the_model(
    observe: Callable[..., Any], error: Exception, said: str
) -> None:
    @tool()
    def look() -> str:
        """Look it up."""
        raise error

    seen = observe(look).observation

    assert seen.error == "ToolFailed"
    assert seen.text.startswith(said)


def test_a_tool_may_reveal_other_errors_or_none(observe: Callable[..., Any]) -> None:
    def look(is_wrong: bool) -> str:
        """Look it up."""
        raise ValueError("wrong") if is_wrong else ConnectionError("refused by 10.0.0.1")

    lost = tool(reveals=(OSError,))(look)
    quiet = tool(reveals=())(look)

    assert observe(lost, {"is_wrong": False}).observation.text == (
        "ConnectionError: refused by 10.0.0.1"
    )
    for tried, is_wrong in ((lost, True), (quiet, True), (quiet, False)):
        text = observe(tried, {"is_wrong": is_wrong}).observation.text
        assert text.startswith("UnexpectedError: look broke (")


def test_a_message_that_is_revealed_is_bounded(observe: Callable[..., Any]) -> None:
    @tool()
    def look() -> str:
        """Look it up."""
        raise ValueError("x\0" * 5_000)

    text = observe(look).observation.text

    assert len(text) == 1_000
    assert "\0" not in text


def test_what_was_shown_before_an_error_is_kept(observe: Callable[..., Any]) -> None:
    @tool()
    def half() -> Iterator[str]:
        """Break half-way."""
        yield "half"
        raise ToolFailed("the rest is lost")

    seen = observe(half)

    assert seen.deltas == ["half"]
    assert seen.observation.text == "half\nthe rest is lost"


def test_a_tool_that_exits_ends_only_itself(observe: Callable[..., Any]) -> None:
    @tool()
    def leave() -> str:
        """Try to end the process."""
        sys.exit(1)

    assert observe(leave).observation.error == "ToolFailed"


def test_a_hostile_text_can_be_stored(observe: Callable[..., Any]) -> None:
    @tool()
    def hostile() -> Iterator[str]:
        """Say what no database takes."""
        yield "nul\x00 half\ud83d whole\ud83d\ude00"

    seen = observe(hostile)

    assert seen.observation.text == "nul\ufffd half\ufffd whole\U0001f600"
    assert seen.observation.text.encode()


def test_a_hostile_error_can_be_stored(observe: Callable[..., Any]) -> None:
    @tool()
    def hostile() -> str:
        """Fail with what no database takes."""
        raise ToolFailed("nul\x00 half\ud83d")

    assert observe(hostile).observation.text == "nul\ufffd half\ufffd"


def test_a_long_output_keeps_its_head_and_tail_and_says_what_is_gone(
    observe: Callable[..., Any],
) -> None:
    @tool()
    def long() -> str:
        """Say 50 MB."""
        return "<" + "x" * 50_000_000 + ">"

    text = observe(long).observation.text

    assert len(text) <= LIMIT
    assert text.startswith("<xxx")
    assert text.endswith("xxx>")
    assert "of 50,000,002 characters are left out here]" in text


def test_the_deltas_are_the_text(observe: Callable[..., Any]) -> None:
    @tool()
    def lines() -> Iterator[str]:
        """Say many lines."""
        for number in range(30_000):
            yield f"line {number}\n"

    seen = observe(lines)

    assert "".join(seen.deltas) == seen.observation.text
    assert seen.observation.text.endswith("line 29999\n")


def test_images_come_with_the_observation_and_not_in_its_text(
    observe: Callable[..., Any],
) -> None:
    picture = Image(media_type="image/png", data="AAAA")

    @tool()
    def draw() -> Iterator[str | Image]:
        """Draw."""
        yield "A line."
        yield picture

    seen = observe(draw)

    assert seen.deltas == ["A line."]
    assert seen.observation == Observation(text="A line.", images=(picture,))


def test_too_many_and_too_large_images_are_left_out(observe: Callable[..., Any]) -> None:
    small = Image(media_type="image/png", data="AAAA")

    @tool()
    def flood() -> Iterator[str | Image]:
        """Draw without end."""
        yield Image(media_type="image/png", data="A" * 3_000_000)
        for _ in range(50):
            yield small

    assert observe(flood).observation.images == (small,) * 4
