"""How many tokens a reply may have stands in every dialect, and follows what a server allows."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Message, Role
from agents.errors import ContextOverflow
from agents.providers.vendors import VENDORS
from tests.unit.agents.providers.calls import Ask, ProviderOf
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from agents.providers.vendors import RemoteName
    from tests.unit.agents.providers.dialects.conftest import Speaker

FIELDS = {
    "openai": ("max_tokens",),
    "anthropic": ("max_tokens",),
    "gemini": ("generationConfig", "maxOutputTokens"),
    "ollama": ("options", "num_predict"),
}
VLLM = (
    "This model's maximum context length is 8192 tokens. However, you requested 8900 tokens "
    "(900 in the messages, 8000 in the completion). Please reduce the length of the messages."
)


def bound_in(provider: "RemoteName", body: Any) -> Any:
    for name in FIELDS[provider]:
        body = body.get(name, {})
    return body


@pytest.mark.parametrize("provider", VENDORS)
def test_every_dialect_says_how_long_a_reply_may_be(
    ask: Ask, wire: Wire, speaker_of: "Callable[[RemoteName], Speaker]", provider: "RemoteName"
) -> None:
    speaker = speaker_of(provider)
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(wire.base_url, provider=provider, max_tokens=8000)

    assert bound_in(provider, wire.requests[0][1]) == 8000


@pytest.mark.parametrize(
    ("provider", "words", "allowed"),
    [
        (
            "openai",
            "max_tokens is too large: 8000. This model supports at most 4096 completion tokens.",
            4096,
        ),
        ("openai", "`max_tokens` must be less than or equal to `1024`", 1024),
        ("openai", "Invalid max_tokens value, the valid range of max_tokens is [1, 4,096]", 4096),
        ("openai", VLLM, 2048),
        (
            "openai",
            "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum "
            "context length is 8192 tokens and your request has 900 input tokens (8000 > 7292).",
            2048,
        ),
        (
            "anthropic",
            "max_tokens: 8000 > 4096, which is the maximum allowed number of output tokens",
            4096,
        ),
        (
            "anthropic",
            "input length and `max_tokens` exceed context limit: 198000 + 8000 > 200000",
            None,
        ),
        ("gemini", "maxOutputTokens must be in the range from 1 (inclusive) to 2048", 2048),
    ],
)
def test_a_server_that_allows_less_is_asked_for_less_from_then_on(
    ask: Ask,
    wire: Wire,
    speaker_of: "Callable[[RemoteName], Speaker]",
    provider: "RemoteName",
    words: str,
    allowed: int | None,
) -> None:
    speaker = speaker_of(provider)
    wire.answers(wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())
    if allowed is None:
        with pytest.raises(ContextOverflow):
            ask(wire.base_url, provider=provider, max_tokens=8000)
        return

    first = ask(wire.base_url, provider=provider, max_tokens=8000)
    ask(wire.base_url, provider=provider, max_tokens=8000)
    ask(wire.base_url, provider=provider, max_tokens=100)

    bounds = [bound_in(provider, body) for _, body in wire.requests]
    assert bounds == [8000, allowed, allowed, 100]
    assert bound_in(provider, json.loads(first.posted)) == allowed


@pytest.mark.parametrize("provider", ["openai", "gemini", "ollama"])
def test_a_server_that_knows_no_bound_is_asked_without(
    ask: Ask, wire: Wire, speaker_of: "Callable[[RemoteName], Speaker]", provider: "RemoteName"
) -> None:
    speaker = speaker_of(provider)
    name = FIELDS[provider][-1]
    words = f"Unrecognized request argument supplied: {name}"
    wire.answers(wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(wire.base_url, provider=provider, max_tokens=8000)
    ask(wire.base_url, provider=provider, max_tokens=8000)

    assert [bound_in(provider, body) for _, body in wire.requests] == [8000, {}, {}]


def test_a_newer_name_and_a_smaller_number_are_both_learnt(ask: Ask, wire: Wire) -> None:
    name = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    size = "max_completion_tokens is too large: 8000. This model supports at most 4096."
    for words in (name, size):
        wire.answers(wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    wire.answers(wire.STREAM + wire.says("fine") + wire.ends())

    ask(wire.base_url, max_tokens=8000)
    ask(wire.base_url, max_tokens=8000)

    assert "max_tokens" not in wire.requests[-1][1]
    assert [b.get("max_completion_tokens") for _, b in wire.requests] == [None, 8000, 4096, 4096]


def test_a_request_that_is_too_long_with_little_room_for_a_reply_is_told_as_such(
    ask: Ask, wire: Wire
) -> None:
    words = VLLM.replace("8900", "10048").replace("900", "8048").replace("8000", "2000")
    wire.answers(wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))

    with pytest.raises(ContextOverflow) as overflow:
        ask(wire.base_url, max_tokens=2000)

    assert overflow.value.length == 8192
    assert len(wire.requests) == 1


def test_how_much_a_model_takes_is_learnt_from_an_overflow(
    ask: Ask, wire: Wire, provider_of: ProviderOf
) -> None:
    words = "This model's maximum context length is 8192 tokens, the request has 9000."
    wire.answers(wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    question = Message(role=Role.USER, content="hello")

    with pytest.raises(ContextOverflow):
        ask(wire.base_url, messages=[question])

    assert provider_of(wire.base_url).context_length == 8192
    assert provider_of(wire.base_url, model="another").context_length is None
