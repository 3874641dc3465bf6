"""What a server keeps sending is given up, also where nobody is shown it; nothing is repeated."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ProviderEndless
from agents.providers.base import Finish, ModelRequest, NativeCall
from agents.providers.vendors import RemoteName
from agents.providers.wire.replies import MAX_REPLY
from tests.unit.agents.providers.calls import ProviderOf
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.agents.providers.dialects.conftest import Speaker

REQUEST = ModelRequest(purpose=Purpose.THINK, messages=[Message(role=Role.USER, content="hello")])
MUCH = "x" * 10_000
ENOUGH = MAX_REPLY // len(MUCH) + 1
MANY = MAX_REPLY // 64 + 1


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def block(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": fields}


def signature() -> Iterator[dict[str, Any]]:
    yield block(0, type="thinking", thinking="")
    for _ in range(ENOUGH):
        yield delta(0, type="signature_delta", signature=MUCH)


def hidden_thoughts() -> Iterator[dict[str, Any]]:
    for index in range(ENOUGH):
        yield block(index, type="redacted_thinking", data=MUCH)


def empty_thoughts() -> Iterator[dict[str, Any]]:
    for index in range(MANY):
        yield block(index, type="thinking", thinking="")


def parts(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}}]}


def by_path(path: str, text: str) -> dict[str, Any]:
    piece = {"jsonPath": path, "stringValue": text}
    return parts({"functionCall": {"partialArgs": [piece], "willContinue": True}})


def one_argument() -> Iterator[dict[str, Any]]:
    yield parts({"functionCall": {"name": "look", "willContinue": True}})
    for _ in range(ENOUGH):
        yield by_path("$.q", MUCH)


def many_arguments() -> Iterator[dict[str, Any]]:
    yield parts({"functionCall": {"name": "look", "willContinue": True}})
    for number in range(ENOUGH):
        yield by_path(f"$.{MUCH}{number}", "")


def signed_parts() -> Iterator[dict[str, Any]]:
    for _ in range(ENOUGH):
        yield parts({"functionCall": {"name": "look"}, "thoughtSignature": MUCH})


def chosen(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def detail(**fields: Any) -> dict[str, Any]:
    return chosen(reasoning_details=[{"type": "reasoning.text", "index": 0, **fields}])


def encrypted_details() -> Iterator[dict[str, Any]]:
    for _ in range(ENOUGH):
        yield detail(data=MUCH)


def said_details() -> Iterator[dict[str, Any]]:
    for _ in range(ENOUGH):
        yield chosen(reasoning="a", reasoning_details=[{"type": "x", "text": MUCH}])


def details_of_many_fields() -> Iterator[dict[str, Any]]:
    for number in range(ENOUGH):
        yield detail(text="a", **{f"field{number}": MUCH})


def many_calls() -> Iterator[dict[str, Any]]:
    for number in range(MANY):
        yield chosen(tool_calls=[{"index": number, "function": {"name": "f"}}])


def ids_of_calls() -> Iterator[dict[str, Any]]:
    for number in range(ENOUGH):
        yield chosen(tool_calls=[{"index": number, "id": f"{MUCH}{number}", "function": {}}])


def extras_of_calls() -> Iterator[dict[str, Any]]:
    for _ in range(ENOUGH):
        call = {"index": 0, "function": {"name": "look"}, "extra_content": {"signature": MUCH}}
        yield chosen(tool_calls=[call])


@pytest.mark.parametrize(
    ("name", "chunks"),
    [
        ("anthropic", signature),
        ("anthropic", hidden_thoughts),
        ("anthropic", empty_thoughts),
        ("gemini", one_argument),
        ("gemini", many_arguments),
        ("gemini", signed_parts),
        ("openai", encrypted_details),
        ("openai", said_details),
        ("openai", details_of_many_fields),
        ("openai", many_calls),
        ("openai", ids_of_calls),
        ("openai", extras_of_calls),
    ],
)
def test_what_never_ends_is_given_up_though_nothing_of_it_is_shown(
    provider_of: ProviderOf,
    wire: Wire,
    speaker_of: "Callable[[RemoteName], Speaker]",
    name: RemoteName,
    chunks: "Callable[[], Iterator[dict[str, Any]]]",
) -> None:
    speaker = speaker_of(name)
    wire.answers(speaker.begins(), map(speaker.sends, chunks()), wire.HOLD)
    provider = provider_of(wire.base_url, provider=name)

    with pytest.raises(ProviderEndless):
        list(provider.stream(provider.body(REQUEST), Control(60, idle_seconds=5)))


def test_details_that_are_said_count_once(
    provider_of: ProviderOf, wire: Wire, speaker_of: "Callable[[RemoteName], Speaker]"
) -> None:
    speaker = speaker_of("openai")
    text = "x" * 1_000
    many = 3 * MAX_REPLY // 4 // len(text)
    chunks = [detail(text=text, format="vendor-1", id=None)] * many
    call = chosen(tool_calls=[{"index": 0, "function": {"name": "look", "arguments": "{}"}}])
    wire.answers(speaker.begins(), *map(speaker.sends, [*chunks, call]), wire.ends())
    provider = provider_of(wire.base_url, provider="openai")

    *_, made, finish = provider.stream(provider.body(REQUEST), Control(60))

    assert isinstance(made, NativeCall)
    assert isinstance(finish, Finish)
    assert made.kept == (
        {
            "reasoning_details": [
                {
                    "type": "reasoning.text",
                    "index": 0,
                    "text": text * many,
                    "format": "vendor-1",
                    "id": None,
                }
            ]
        },
    )
