"""A request that is too long for its model is told from every other refusal, with the length."""

import json
from typing import Any

import pytest

from agents.errors import ContextOverflow, ProviderError, ProviderRefused
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.openai.failures import failure_of
from tests.unit.agents.providers.wire import Wire


def page(status: str, error: Any) -> bytes:
    return Wire.page(status, json.dumps({"error": error}))


@pytest.mark.parametrize(
    ("status", "error", "length"),
    [
        ("400 Bad Request", {"code": "context_length_exceeded", "message": "Too long."}, None),
        (
            "400 Bad Request",
            {"message": "The maximum context length is 8,192 tokens; you sent 9000 tokens."},
            8192,
        ),
        (
            "400 Bad Request",
            {"type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096},
            4096,
        ),
        ("500 Error", {"message": "the request exceeds the available context size."}, None),
        (
            "400 Bad Request",
            {
                "type": "invalid_request_error",
                "message": "prompt is too long: 9000 tokens > 7000 maximum",
            },
            7000,
        ),
        ("413 Too Large", {"message": "prompt is too long for this model"}, None),
        (
            "400 Bad Request",
            {
                "status": "INVALID_ARGUMENT",
                "message": "The input token count (9000) exceeds the maximum number of tokens"
                " allowed (6000).",
            },
            6000,
        ),
        (
            "400 Bad Request",
            {"message": "It is too large for model with 5000 maximum context length"},
            5000,
        ),
    ],
)
def test_an_overflow_has_a_name_and_the_servers_length(
    ask: Ask, wire: Wire, status: str, error: Any, length: int | None
) -> None:
    wire.answers(page(status, error))

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ContextOverflow)
    assert failure.length == length
    assert len(wire.requests) == 1


def test_an_overflow_that_is_told_within_a_stream_is_one(ask: Ask, wire: Wire) -> None:
    error = {"message": "The maximum context length is 512 tokens.", "code": "too_long"}
    wire.answers(wire.STREAM, wire.event({"error": error}), wire.ends())

    failure = failure_of(ask, wire.base_url)

    assert isinstance(failure, ContextOverflow)
    assert failure.length == 512


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        ("400 Bad Request", "max_tokens must be positive", ProviderRefused),
        ("404 Not Found", "no model of that name", ProviderRefused),
        ("400 Bad Request", "the name is too long", ProviderRefused),
    ],
)
def test_other_refusals_are_no_overflow(
    ask: Ask, wire: Wire, status: str, message: str, kind: type[ProviderError]
) -> None:
    wire.answers(page(status, {"message": message}))

    assert type(failure_of(ask, wire.base_url)) is kind
