"""Native calls of the other dialects arrive as data, with what their servers want back."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ProviderTruncated
from agents.providers.base import ModelRequest, NativeCall
from agents.providers.vendors import RemoteName
from tests.unit.agents.providers.calls import ProviderOf
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.agents.providers.dialects.conftest import Speaker

REQUEST = ModelRequest(purpose=Purpose.THINK, messages=[Message(role=Role.USER, content="hello")])


@pytest.fixture
def made(
    provider_of: ProviderOf, wire: Wire, speaker_of: "Callable[[RemoteName], Speaker]"
) -> "Callable[[RemoteName, Iterable[Any]], list[NativeCall]]":
    def made(name: RemoteName, chunks: Iterable[Any]) -> list[NativeCall]:
        speaker = speaker_of(name)
        wire.answers(speaker.begins(), *map(speaker.sends, chunks), speaker.ends())
        provider = provider_of(wire.base_url, provider=name)
        items = provider.stream(provider.body(REQUEST), Control(60))
        return [item for item in items if isinstance(item, NativeCall)]

    return made


def block(index: int, begun: dict[str, Any], *deltas: dict[str, Any]) -> list[Any]:
    """Write one block of Anthropic's."""
    begins = {"type": "content_block_start", "index": index, "content_block": begun}
    more = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [begins, *more, {"type": "content_block_stop", "index": index}]


def part(**part: Any) -> dict[str, Any]:
    """Write a chunk of Gemini's with one part."""
    return {"candidates": [{"content": {"role": "model", "parts": [part]}}]}


def test_signed_thoughts_come_back_with_claudes_first_call(made: Any) -> None:
    thought = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "A plum"},
        {"type": "thinking_delta", "thinking": " it is."},
        {"type": "signature_delta", "signature": "c2ln"},
    )
    hidden = block(1, {"type": "redacted_thinking", "data": "eHg="})
    weigh = {"type": "tool_use", "id": "t1", "name": "weigh", "input": {}}
    more = {"type": "input_json_delta", "partial_json": '{"what": "plum"}'}
    rest = {"type": "tool_use", "id": "t2", "name": "rest", "input": {}}

    first, second = made("anthropic", [*thought, *hidden, *block(2, weigh, more), *block(3, rest)])

    assert (first.id, first.call.inputs, second.call.inputs) == ("t1", {"what": "plum"}, {})
    assert first.kept == (
        {"type": "thinking", "thinking": "A plum it is.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHg="},
    )
    assert second.kept == ()


def test_what_claudes_server_runs_by_itself_is_no_call_of_ours(made: Any) -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    more = {"type": "input_json_delta", "partial_json": '{"query": "plums"}'}

    assert made("anthropic", block(0, search, more)) == []


def test_a_message_that_begins_anew_within_itself_is_cut(made: Any) -> None:
    said = block(0, {"type": "text", "text": "Plums"})

    with pytest.raises(ProviderTruncated, match="anew"):
        made("anthropic", [*said, {"type": "message_start", "message": {}}, *said])


def test_geminis_signature_comes_back_with_its_call(made: Any) -> None:
    weigh = {"name": "default_api.weigh", "args": {"what": "plum"}}

    first, second = made(
        "gemini",
        [part(functionCall=weigh, thoughtSignature="c2ln"), part(functionCall={"name": "rest"})],
    )

    assert (first.call.tool, first.call.inputs) == ("weigh", {"what": "plum"})
    assert (first.kept, second.kept) == (({"thoughtSignature": "c2ln"},), ())
    assert (second.call.tool, second.call.inputs) == ("rest", {})


def test_arguments_that_gemini_sends_by_their_paths_are_put_in_place(made: Any) -> None:
    pieces = [
        {"jsonPath": "$.plums[0].kind", "stringValue": "mira"},
        {"jsonPath": "$.plums[0].kind", "stringValue": "belle"},
        {"jsonPath": "$.plums[0].grams", "numberValue": 12},
        {"jsonPath": "$.plums[1]['is ripe']", "boolValue": True},
        {"jsonPath": "$.note", "nullValue": None},
    ]
    more = [part(functionCall={"partialArgs": [one], "willContinue": True}) for one in pieces]
    begins = part(functionCall={"name": "weigh", "willContinue": True})

    (call,) = made("gemini", [begins, *more, part(functionCall={})])

    plums = [{"kind": "mirabelle", "grams": 12}, {"is ripe": True}]
    assert call.call.inputs == {"plums": plums, "note": None}


@pytest.mark.parametrize("path", ["plums", "$.plums[9999]", "$.plums[1000000000]", "$..x", "$"])
def test_a_path_that_leads_nowhere_is_garbled(made: Any, path: str) -> None:
    piece = {"jsonPath": path, "stringValue": "x"}
    begins = {"name": "weigh", "willContinue": True, "partialArgs": [piece]}

    with pytest.raises(Exception, match="what is no reply"):
        made("gemini", [part(functionCall=begins)])


def test_a_call_of_which_more_was_promised_is_not_made(made: Any) -> None:
    piece = {"jsonPath": "$.what", "stringValue": "a pl", "willContinue": True}
    begins = {"name": "weigh", "willContinue": True, "partialArgs": [piece]}

    with pytest.raises(ProviderTruncated, match="within a call"):
        made("gemini", [part(functionCall=begins)])


def test_calls_of_ollama_are_made_in_their_order(made: Any) -> None:
    functions = [{"name": name, "arguments": {"what": "plum"}} for name in ("weigh", "peel")]
    chunks = [{"message": {"content": "", "tool_calls": [{"function": f}]}} for f in functions]

    assert [call.name for call in made("ollama", chunks)] == ["weigh", "peel"]
