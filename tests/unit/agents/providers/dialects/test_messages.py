"""System, image and tool messages are said in each dialect as its server wants them."""

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from agents.contracts import Image, Message, Role, ToolCall
from agents.errors import ProviderRefused
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.providers.vendors import RemoteName
    from tests.unit.agents.providers.dialects.conftest import Speaker

PNG = Image(media_type="image/png", data="iVBORw0KGgo=")
ADD = ToolCall(tool="add", inputs={"a": 1, "b": 2})
LOOK = ToolCall(tool="look", inputs={})

RULES = Message(role=Role.SYSTEM, content="Be brief.")
QUESTION = Message(role=Role.USER, content="What is this?", images=(PNG,))
REQUESTS = [
    Message(role=Role.ASSISTANT, content="Let me see."),
    Message(role=Role.TOOL_REQUEST, content="", call=ADD, call_id="c1"),
    Message(role=Role.TOOL_REQUEST, content="", call=LOOK, call_id="c2"),
]
RESULTS = [
    Message(role=Role.TOOL_RESULT, content="3", call=ADD, call_id="c1"),
    Message(role=Role.TOOL_RESULT, content="a face", images=(PNG,), call=LOOK, call_id="c2"),
    Message(role=Role.USER, content="Go on."),
]
ALL = [RULES, QUESTION, *REQUESTS, *RESULTS]


class Said:
    """What a server of one dialect was sent."""

    def __init__(self, ask: Ask, wire: Wire, speaker: "Speaker") -> None:
        self._ask, self._wire, self._speaker = ask, wire, speaker
        wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    def __call__(self, *messages: Message, **request: Any) -> dict[str, Any]:
        self._ask(self._wire.base_url, messages=messages, provider=self._speaker.name, **request)
        return self._wire.requests[-1][1]


@pytest.fixture
def said_to(
    ask: Ask, wire: Wire, speaker_of: "Callable[[RemoteName], Speaker]"
) -> "Callable[[RemoteName], Said]":
    return lambda name: Said(ask, wire, speaker_of(name))


def test_openai_is_told_of_images_and_calls(said_to: "Callable[[RemoteName], Said]") -> None:
    body = said_to("openai")(*ALL)

    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]},
        {"role": "assistant", "content": "Let me see."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
                },
                {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "tool", "tool_call_id": "c2", "content": "a face"},
        {"role": "user", "content": [picture]},
        {"role": "user", "content": "Go on."},
    ]


def test_anthropic_is_told_of_images_and_calls(said_to: "Callable[[RemoteName], Said]") -> None:
    body = said_to("anthropic")(*ALL)

    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    picture = {"type": "image", "source": source}
    kept = {"cache_control": {"type": "ephemeral"}}
    assert body["system"] == [{"type": "text", "text": "Be brief."} | kept]
    assert body["messages"] == [
        {"role": "user", "content": [picture, {"type": "text", "text": "What is this?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1, "b": 2}},
                {"type": "tool_use", "id": "c2", "name": "look", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "3"}],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "c2",
                    "content": [{"type": "text", "text": "a face"}, picture],
                },
                {"type": "text", "text": "Go on."} | kept,
            ],
        },
    ]
    assert [tool["name"] for tool in body["tools"]] == ["add", "look"]
    assert body["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        ("gemini-3.8-flash", {"thoughtSignature": "skip_thought_signature_validator"}),
        ("gemini-2.5-flash", {}),
    ],
)
def test_gemini_is_told_of_images_and_calls(
    said_to: "Callable[[RemoteName], Said]", model: str, signature: dict[str, str]
) -> None:
    body = said_to("gemini")(*ALL, model=model)

    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert body["contents"] == [
        {"role": "user", "parts": [{"text": "What is this?"}, picture]},
        {
            "role": "model",
            "parts": [
                {"text": "Let me see."},
                {"functionCall": {"name": "add", "args": {"a": 1, "b": 2}}} | signature,
                {"functionCall": {"name": "look", "args": {}}} | signature,
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "add", "response": {"result": "3"}}},
                {"functionResponse": {"name": "look", "response": {"result": "a face"}}},
                picture,
                {"text": "Go on."},
            ],
        },
    ]


def test_ollama_is_told_of_images_and_calls(said_to: "Callable[[RemoteName], Said]") -> None:
    body = said_to("ollama")(*ALL)

    picture = {"images": ["iVBORw0KGgo="]}
    add = {"function": {"name": "add", "arguments": {"a": 1, "b": 2}}}
    look = {"function": {"name": "look", "arguments": {}}}
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is this?"} | picture,
        {"role": "assistant", "content": "Let me see."},
        {"role": "assistant", "content": "", "tool_calls": [add]},
        {"role": "assistant", "content": "", "tool_calls": [look]},
        {"role": "tool", "content": "3", "tool_name": "add"},
        {"role": "tool", "content": "a face", "tool_name": "look"} | picture,
        {"role": "user", "content": "Go on."},
    ]


@pytest.mark.parametrize("name", ["anthropic", "gemini"])
def test_who_wants_speakers_in_turn_gets_them_so(
    said_to: "Callable[[RemoteName], Said]", name: "RemoteName"
) -> None:
    late = Message(role=Role.SYSTEM, content="Time is short.")
    empty = Message(role=Role.ASSISTANT, content="")
    body = said_to(name)(RULES, RULES, REQUESTS[0], REQUESTS[0], empty, RESULTS[-1], late)

    speeches = body.get("messages") or body["contents"]
    assert [speech["role"] for speech in speeches] in (["assistant", "user"], ["model", "user"])
    parts = [speech.get("content") or speech["parts"] for speech in speeches]
    assert [[part["text"] for part in some] for some in parts] == [
        ["Let me see.", "Let me see."],
        ["Go on.", "Time is short."],
    ]


@pytest.mark.parametrize("name", ["anthropic", "gemini"])
def test_rules_alone_are_asked_as_a_question(
    said_to: "Callable[[RemoteName], Said]", name: "RemoteName"
) -> None:
    body = said_to(name)(RULES)

    (speech,) = body.get("messages") or body["contents"]
    assert speech["role"] == "user"
    assert "system" not in body
    assert "systemInstruction" not in body


@pytest.mark.parametrize(
    "words",
    [
        "deepseek-reasoner does not support successive user or assistant messages",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
def test_a_server_that_wants_speakers_in_turn_says_so_once(
    said_to: "Callable[[RemoteName], Said]", wire: Wire, words: str
) -> None:
    wire.answers(wire.page("400 Bad Request", f'{{"error": {{"message": "{words}"}}}}'))
    said = said_to("openai")

    for _ in range(2):
        body = said(RULES, QUESTION, RESULTS[-1], REQUESTS[0], REQUESTS[0])

    assert [len(sent["messages"]) for _, sent in wire.requests] == [5, 3, 3]
    assert body["messages"][1]["content"][-1] == {"type": "text", "text": "Go on."}
    assert body["messages"][2]["content"] == "Let me see.\n\nLet me see."


def test_calls_and_their_results_are_never_joined(
    said_to: "Callable[[RemoteName], Said]", wire: Wire
) -> None:
    wire.answers(wire.page("400 Bad Request", '{"error": "roles must alternate"}'))

    body = said_to("openai")(RULES, RESULTS[-1], RESULTS[-1], *REQUESTS[1:], *RESULTS[:1])

    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]


def test_a_demand_that_joining_does_not_meet_is_a_refusal(
    said_to: "Callable[[RemoteName], Said]", wire: Wire
) -> None:
    wire.answers(wire.page("400 Bad Request", '{"error": "roles must alternate"}'))

    with pytest.raises(ProviderRefused, match="roles must alternate"):
        said_to("openai")(REQUESTS[0])

    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    "message",
    [
        {"role": "bot", "content": "x"},
        {"role": "user", "content": None},
        {"role": "user", "content": "x", "foo": 1},
        {"role": "tool_result", "content": "x"},
        {"role": "tool_request", "content": "", "call": {"tool": "add", "inputs": {}}},
        {"role": "user", "content": "x", "call_id": "1"},
        {"role": "user", "content": "x", "images": [{"media_type": "text/html", "data": "aa=="}]},
        {"role": "user", "content": "x", "images": [{"media_type": "image/png", "data": "<b>"}]},
    ],
)
def test_a_message_that_means_nothing_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Message.model_validate(message)
