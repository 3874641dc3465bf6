"""Tools and schemas are offered in each dialect's own way, and refusals of them are learnt."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from agents.contracts import Message, Purpose, Role, ToolCall
from agents.control import Control
from agents.errors import ToolsRefused
from agents.events import ModelCalled
from agents.model.model import Model
from agents.providers.base import TOOLS, ModelRequest, NativeCall, ToolSchema
from agents.providers.vendors import RemoteName
from tests.unit.agents.providers.calls import ProviderOf
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from tests.unit.agents.providers.dialects.conftest import Speaker

INPUTS = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
WEIGH = ToolSchema(name="weigh", description="Weigh a thing.", inputs=INPUTS)
REST = ToolSchema(name="rest", description="Rest.", inputs={"type": "object", "properties": {}})
ASKED = [Message(role=Role.USER, content="hello")]
SCHEMA = {"type": "object", "properties": {"grams": {"type": "integer"}}}
GRAMS = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
CLOSED: dict[str, Any] = {"additionalProperties": False, "required": ["grams"]}
CLOSED |= SCHEMA | {"properties": {"grams": GRAMS}}


@pytest.fixture
def body_of(wire: Wire, provider_of: ProviderOf) -> Callable[..., Any]:
    """Return what is posted for a request, as the server reads it."""

    def body_of(name: RemoteName, speaker: "Speaker", **request: Any) -> Any:
        wire.answers(speaker.begins(), speaker.says("ok"), speaker.ends())
        model = Model(provider_of(wire.base_url, provider=name), Control(60))
        messages: Sequence[Message] = request.pop("messages", ASKED)
        record = list(model.stream(messages, purpose=Purpose.THINK, **request))[-1]
        assert isinstance(record, ModelCalled)
        assert record.call.error == ""
        return wire.requests[-1][1]

    return body_of


def parts(name: RemoteName, body: Any) -> Any:
    """Return of a body what offers tools or asks for a form."""
    names = ("tools", "tool_choice", "toolConfig", "response_format", "format")
    settings = body.get("generationConfig", {})
    asked = {n: settings[n] for n in ("responseMimeType", "responseSchema") if n in settings}
    return {n: body[n] for n in names if n in body} | asked


FUNCTION = {"name": "weigh", "description": "Weigh a thing.", "parameters": INPUTS}
USE = {"name": "weigh", "description": "Weigh a thing.", "input_schema": INPUTS}
REPLY = {"name": "reply_in_json", "input_schema": SCHEMA}


@pytest.mark.parametrize(
    ("name", "request_of", "offered"),
    [
        ("openai", {"tools": [WEIGH]}, {"tools": [{"type": "function", "function": FUNCTION}]}),
        (
            "openai",
            {"tools": [WEIGH], "tool_choice": "weigh"},
            {
                "tools": [{"type": "function", "function": FUNCTION}],
                "tool_choice": {"type": "function", "function": {"name": "weigh"}},
            },
        ),
        (
            "openai",
            {"reply_schema": SCHEMA},
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "schema": CLOSED, "strict": True},
                }
            },
        ),
        ("anthropic", {"tools": [WEIGH]}, {"tools": [USE]}),
        (
            "anthropic",
            {"tools": [WEIGH], "tool_choice": "required"},
            {"tools": [USE], "tool_choice": {"type": "any"}},
        ),
        (
            "anthropic",
            {"tools": [WEIGH], "tool_choice": "weigh"},
            {"tools": [USE], "tool_choice": {"type": "tool", "name": "weigh"}},
        ),
        (
            "anthropic",
            {"reply_schema": SCHEMA},
            {"tools": [REPLY], "tool_choice": {"type": "tool", "name": "reply_in_json"}},
        ),
        (
            "anthropic",
            {"reply_schema": SCHEMA, "tools": [WEIGH]},
            {"tools": [USE, REPLY], "tool_choice": {"type": "any"}},
        ),
        ("gemini", {"tools": [WEIGH]}, {"tools": [{"functionDeclarations": [FUNCTION]}]}),
        (
            "gemini",
            {"tools": [REST], "tool_choice": "none"},
            {
                "tools": [{"functionDeclarations": [{"name": "rest", "description": "Rest."}]}],
                "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
            },
        ),
        (
            "gemini",
            {"tools": [WEIGH], "tool_choice": "weigh"},
            {
                "tools": [{"functionDeclarations": [FUNCTION]}],
                "toolConfig": {
                    "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weigh"]}
                },
            },
        ),
        (
            "gemini",
            {"reply_schema": SCHEMA},
            {"responseMimeType": "application/json", "responseSchema": SCHEMA},
        ),
        ("ollama", {"tools": [WEIGH]}, {"tools": [{"type": "function", "function": FUNCTION}]}),
        ("ollama", {"tools": [WEIGH], "tool_choice": "none"}, {}),
        ("ollama", {"reply_schema": SCHEMA}, {"format": SCHEMA}),
    ],
)
def test_a_request_offers_them_as_its_dialect_does(
    body_of: Callable[..., Any],
    speaker_of: "Callable[[RemoteName], Speaker]",
    name: RemoteName,
    request_of: dict[str, Any],
    offered: dict[str, Any],
) -> None:
    body = body_of(name, speaker_of(name), **request_of)

    assert parts(name, body) == offered
    assert list(body)[-1] in ("messages", "contents")


def test_without_them_a_request_has_nothing_of_them(
    body_of: Callable[..., Any], speaker: "Speaker"
) -> None:
    assert parts(speaker.name, body_of(speaker.name, speaker)) == {}


def test_a_tool_that_is_to_be_called_must_be_offered() -> None:
    with pytest.raises(ValidationError, match="must be offered"):
        ModelRequest(purpose=Purpose.THINK, messages=ASKED, tools=[WEIGH], tool_choice="rest")


REFUSALS: list[tuple[RemoteName, str, dict[str, Any], dict[str, Any]]] = [
    (
        "openai",
        "tool_choice is unknown",
        {"tools": [WEIGH], "tool_choice": "required"},
        {"tools": [{"type": "function", "function": FUNCTION}]},
    ),
    (
        "openai",
        "response_format.type must be text or json_object",
        {"reply_schema": SCHEMA},
        {"response_format": {"type": "json_object"}},
    ),
    (
        "gemini",
        "Unknown name responseSchema",
        {"reply_schema": SCHEMA},
        {"responseMimeType": "application/json"},
    ),
]


@pytest.mark.parametrize(("name", "words", "request_of", "left"), REFUSALS)
def test_what_a_server_does_not_take_of_them_is_left_out_from_then_on(
    wire: Wire,
    body_of: Callable[..., Any],
    speaker_of: "Callable[[RemoteName], Speaker]",
    name: RemoteName,
    words: str,
    request_of: dict[str, Any],
    left: dict[str, Any],
) -> None:
    wire.answers(Wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))

    first = body_of(name, speaker_of(name), **request_of)
    again = body_of(name, speaker_of(name), **request_of)

    assert [parts(name, first), parts(name, again)] == [left, left]
    assert len(wire.requests) == 3


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("openai", "400 Bad Request", "m does not support tools"),
        ("openai", "400 Bad Request", '"auto" tool choice requires a parser'),
        ("openai", "404 Not Found", "No endpoints found that support tool use"),
        ("openai", "500 Internal Server Error", "tools param requires --jinja flag"),
        ("anthropic", "400 Bad Request", "tools are not supported"),
        ("gemini", "400 Bad Request", "Function calling is not supported"),
        ("ollama", "400 Bad Request", "m does not support tools"),
    ],
)
def test_a_server_that_takes_no_tools_is_not_asked_as_if_there_were_none(
    wire: Wire, provider_of: ProviderOf, name: RemoteName, status: str, words: str
) -> None:
    wire.answers(Wire.page(status, json.dumps({"error": {"message": words}})))
    provider = provider_of(wire.base_url, provider=name)
    model = Model(provider, Control(60))
    assert not provider.refuses(TOOLS)

    with pytest.raises(ToolsRefused):
        list(model.stream(ASKED, purpose=Purpose.THINK, tools=[WEIGH]))

    assert provider.refuses(TOOLS)
    assert len(wire.requests) == 1


def test_json_that_claude_replies_by_a_tool_is_the_text_of_the_reply(
    wire: Wire, provider_of: ProviderOf, speaker_of: "Callable[[RemoteName], Speaker]"
) -> None:
    speaker = speaker_of("anthropic")
    use = {"type": "tool_use", "id": "t", "name": "reply_in_json", "input": {}}
    pieces = [{"type": "input_json_delta", "partial_json": text} for text in ('{"grams"', ": 12}")]
    wire.answers(
        speaker.begins(),
        speaker.sends({"type": "content_block_start", "index": 0, "content_block": use}),
        *(
            speaker.sends({"type": "content_block_delta", "index": 0, "delta": piece})
            for piece in pieces
        ),
        speaker.stops("tool_use"),
        b"0\r\n\r\n",
    )
    model = Model(provider_of(wire.base_url, provider="anthropic"), Control(60))

    items = list(model.stream(ASKED, purpose=Purpose.THINK, reply_schema=SCHEMA))

    (record,) = (item.call for item in items if isinstance(item, ModelCalled))
    assert (record.reply, record.stop_reason, record.is_cut) == ('{"grams": 12}', "stop", False)


CALL = {"index": 0, "id": "a", "function": {"name": "weigh", "arguments": '{"what": "plum"}'}}


@pytest.mark.parametrize("offered", [[WEIGH], []])
def test_a_call_is_data_where_tools_were_offered_and_text_elsewhere(
    wire: Wire, provider_of: ProviderOf, offered: list[ToolSchema]
) -> None:
    choice = {"delta": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}
    wire.answers(Wire.STREAM, Wire.event({"choices": [choice]}), Wire.event("[DONE]"), b"0\r\n\r\n")
    model = Model(provider_of(wire.base_url), Control(60))

    *said, record = model.stream(ASKED, purpose=Purpose.THINK, tools=offered)

    made = [item.call for item in said if isinstance(item, NativeCall)]
    assert made == ([ToolCall(tool="weigh", inputs={"what": "plum"})] if offered else [])
    assert isinstance(record, ModelCalled)
    assert record.call.reply == '\n{"tool": "weigh", "inputs": {"what": "plum"}}\n'


SENT_BACK: list[tuple[RemoteName, tuple[dict[str, Any], ...], Any]] = [
    (
        "anthropic",
        ({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},),
        lambda body: body["messages"][1]["content"][0],
    ),
    ("gemini", ({"thoughtSignature": "c2ln"},), lambda body: body["contents"][1]["parts"][1]),
    (
        "openai",
        ({"reasoning_content": "Hm."}, {"extra_content": {"s": "c2ln"}}),
        lambda body: body["messages"][1],
    ),
]


@pytest.mark.parametrize(("name", "kept", "place"), SENT_BACK)
def test_what_a_server_wants_back_is_sent_back_with_the_call(
    body_of: Callable[..., Any],
    speaker_of: "Callable[[RemoteName], Speaker]",
    name: RemoteName,
    kept: tuple[dict[str, Any], ...],
    place: Callable[[Any], Any],
) -> None:
    call = ToolCall(tool="weigh", inputs={"what": "plum"})
    asks = Message(role=Role.TOOL_REQUEST, content="So.", call=call, call_id="a", kept=kept)
    told = Message(role=Role.TOOL_RESULT, content="12 g", call=call, call_id="a")

    body = body_of(name, speaker_of(name), messages=[*ASKED, asks, told], tools=[WEIGH])

    sent = place(body)
    found = {**sent, **sent.get("tool_calls", [{}])[0]}
    assert all(found[part] == item[part] for item in kept for part in item)
