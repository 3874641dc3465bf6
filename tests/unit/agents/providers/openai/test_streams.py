"""Every fault of a stream that has begun ends in the error that names it, in bounded time."""

import itertools
from typing import Any

import pytest

from agents.control import Control
from agents.errors import (
    AgentError,
    ContextOverflow,
    OutOfTime,
    ProviderBusy,
    ProviderGarbled,
    ProviderRefused,
    ProviderSilent,
    ProviderTruncated,
)
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.openai.failures import failure_of
from tests.unit.agents.providers.wire import Wire


@pytest.mark.parametrize(
    "line",
    [
        '{"choices": [',
        "[]",
        "7",
        "null",
        '{"choices": [7]}',
        '{"choices": [{"delta": {"content": ["a"]}}]}',
        '{"choices": {"delta": {}}}',
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_chunk_is_garbled(ask: Ask, wire: Wire, line: str) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.event(line), wire.ends())

    assert isinstance(failure_of(ask, wire.base_url), ProviderGarbled)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "slow down", "code": 429}, ProviderBusy),
        ({"message": "try later", "type": "server_error"}, ProviderBusy),
        ({"message": "too long", "code": "context_length_exceeded"}, ContextOverflow),
        ({"message": "no", "type": "invalid_request_error"}, ProviderRefused),
        ({"message": "something"}, ProviderGarbled),
        ("something", ProviderGarbled),
        ({"strange": 1}, ProviderGarbled),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_what_it_says(
    ask: Ask, wire: Wire, error: Any, expected: type[AgentError]
) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.event({"error": error}), wire.ends())

    failure = failure_of(ask, wire.base_url)

    assert type(failure) is expected
    assert len(wire.requests) == 1


def test_a_cut_in_the_middle_is_truncated(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.CUT)

    assert isinstance(failure_of(ask, wire.base_url), ProviderTruncated)


def test_an_orderly_end_without_a_reason_is_truncated(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), b"0\r\n\r\n")

    assert isinstance(failure_of(ask, wire.base_url), ProviderTruncated)


def test_half_a_line_at_the_end_is_truncated(ask: Ask, wire: Wire) -> None:
    chunk = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    wire.answers(wire.OPEN_STREAM, chunk + chunk[:20], wire.CLOSE)

    assert isinstance(failure_of(ask, wire.base_url), ProviderTruncated)


def test_silence_before_the_first_word_is_named(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.HOLD)

    failure = failure_of(ask, wire.base_url, Control(30, idle_seconds=0.5))

    assert isinstance(failure, ProviderSilent)
    assert "0.5 seconds" in str(failure)
    assert wire.gone.wait(10)


def test_silence_in_the_middle_is_named(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.HOLD)

    failure = failure_of(ask, wire.base_url, Control(30, idle_seconds=0.5))

    assert isinstance(failure, ProviderSilent)
    assert wire.gone.wait(10)


def test_a_stream_that_never_stops_ends_at_the_cap(ask: Ask, wire: Wire) -> None:
    thousands = (range(n, n + 1000) for n in itertools.count(0, 1000))
    wire.answers(wire.STREAM, (wire.says(" and ".join(map(str, each))) for each in thousands))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ProviderGarbled)
    assert "does not stop" in str(failure)
    assert wire.gone.wait(10)


def test_a_stream_that_never_says_anything_ends_with_the_runs_time(ask: Ask, wire: Wire) -> None:
    wire.answers(wire.STREAM, itertools.repeat(wire.part(b": still here\n\n" * 100)))

    failure = failure_of(ask, wire.base_url, Control(1, idle_seconds=30))

    assert isinstance(failure, OutOfTime)
    assert wire.gone.wait(10)


def test_a_line_that_never_ends_is_garbled(ask: Ask, wire: Wire) -> None:
    endless = itertools.repeat(wire.part(b"x" * 50_000))
    wire.answers(wire.STREAM, wire.part(b"data: "), endless)

    assert isinstance(failure_of(ask, wire.base_url), ProviderGarbled)
    assert wire.gone.wait(10)


def test_a_key_in_an_error_inside_a_stream_is_not_shown(ask: Ask, wire: Wire, key: str) -> None:
    wire.answers(wire.STREAM, wire.event({"error": {"message": f"bad {key}"}}), wire.ends())

    assert key not in str(failure_of(ask, wire.base_url))
