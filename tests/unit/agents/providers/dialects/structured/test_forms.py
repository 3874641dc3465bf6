"""What a policy wants in JSON is asked for in the best form that a server takes, learnt once."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Message, ModelCall, Purpose, Role, Status
from agents.control import Control
from agents.events import ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.base import REPLY
from agents.providers.vendors import RemoteName
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.providers.calls import ProviderOf
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from tests.unit.agents.providers.dialects.conftest import Speaker

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "near": {"type": "integer"}},
    "required": ["text"],
    "additionalProperties": False,
}
STRICT = SCHEMA | {
    "properties": {
        "text": {"type": "string"},
        "near": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["text", "near"],
}
FREE = {"type": "object", "properties": {"any": {}}, "required": [], "additionalProperties": False}
ASKED = [Message(role=Role.USER, content="Reply in JSON.")]
JSON = {"response_format": {"type": "json_object"}}
_PARTS = ("tools", "tool_choice", "response_format", "format")


def named(schema: object, **more: Any) -> dict[str, Any]:
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, **more},
        }
    }


def forced(schema: object) -> dict[str, Any]:
    function = {"name": REPLY, "description": "Give the whole reply.", "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": REPLY}},
    }


def form(body: dict[str, Any]) -> dict[str, Any]:
    """Return of a body what asks for a form."""
    settings = body.get("generationConfig", {})
    wanted = ("responseMimeType", "responseSchema")
    return {n: body[n] for n in _PARTS if n in body} | {
        n: settings[n] for n in wanted if n in settings
    }


@pytest.fixture
def asks(wire: Wire, provider_of: ProviderOf) -> Callable[..., ModelCall]:
    """Return what asks once for a reply of a form, and gives the record."""

    def asks(name: RemoteName, schema: dict[str, Any] = SCHEMA, **settings: Any) -> ModelCall:
        model = Model(provider_of(wire.base_url, provider=name), Control(60), **settings)
        made = model.stream(ASKED, purpose=Purpose.THINK, as_json=True, reply_schema=schema)
        record = list(made)[-1]
        assert isinstance(record, ModelCalled)
        return record.call

    return asks


ORDERED = SCHEMA | {"propertyOrdering": ["text", "near"]}
GEMINI_SCHEMA = {name: part for name, part in ORDERED.items() if name != "additionalProperties"}
TOOL = {"name": REPLY, "input_schema": SCHEMA}
LADDERS: list[tuple[RemoteName, list[tuple[str, dict[str, Any]]], dict[str, Any], int]] = [
    (
        "openai",
        [
            (
                "Invalid schema for response_format 'reply': 'minimum' is not permitted",
                named(STRICT, strict=True),
            ),
            ("response_format.type must be text or json_object", named(STRICT)),
        ],
        JSON,
        3,
    ),
    (
        "openai",
        [
            ("'response_format' is not supported by this server", named(STRICT, strict=True)),
            ("m does not support tools", forced(STRICT)),
        ],
        {},
        3,
    ),
    (
        "openai",
        [("'response_format' is not supported", named(STRICT, strict=True))],
        forced(STRICT),
        2,
    ),
    (
        "gemini",
        [
            (
                "The specified schema produces a constraint that has too many states",
                {"responseMimeType": "application/json", "responseSchema": GEMINI_SCHEMA},
            ),
            ("JSON mode is not enabled", {"responseMimeType": "application/json"}),
        ],
        {},
        3,
    ),
    (
        "ollama",
        [
            ("json: cannot unmarshal object into ChatRequest.format", {"format": SCHEMA}),
            ("invalid format", {"format": "json"}),
        ],
        {},
        3,
    ),
    (
        "anthropic",
        [
            (
                "tool_choice: this model chooses for itself",
                {"tools": [TOOL], "tool_choice": {"type": "tool", "name": REPLY}},
            ),
            ("tools are not supported", {"tools": [TOOL]}),
        ],
        {},
        3,
    ),
]


@pytest.mark.parametrize(("name", "refusals", "learnt", "posted"), LADDERS)
def test_a_refusal_costs_one_request_once_and_the_next_run_asks_as_was_learnt(
    wire: Wire,
    asks: Callable[..., ModelCall],
    speaker_of: "Callable[[RemoteName], Speaker]",
    name: RemoteName,
    refusals: list[tuple[str, dict[str, Any]]],
    learnt: dict[str, Any],
    posted: int,
) -> None:
    speaker = speaker_of(name)
    for words, _ in refusals:
        wire.answers(Wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    wire.answers(speaker.begins(), speaker.says('{"text": "plum"}'), speaker.ends())

    first, again = asks(name), asks(name)

    forms = [form(body) for _, body in wire.requests]
    assert forms == [*(asked for _, asked in refusals), learnt, learnt]
    assert len(wire.requests) == posted + 1
    assert (first.error, first.reply, again.reply) == ("", '{"text": "plum"}', '{"text": "plum"}')


def test_a_server_that_knows_no_json_is_asked_by_a_forced_tool_the_next_time(
    wire: Wire, asks: Callable[..., ModelCall]
) -> None:
    for words in ("json_schema is unknown", "response_format is unknown"):
        wire.answers(Wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    wire.answers(Wire.STREAM, Wire.says("plum"), Wire.ends())

    asks("openai")
    asks("openai")

    forms = [form(body) for _, body in wire.requests]
    assert forms == [named(STRICT, strict=True), JSON, {}, forced(STRICT)]


def test_what_comes_by_the_forced_tool_is_the_text_of_the_reply(
    wire: Wire, asks: Callable[..., ModelCall]
) -> None:
    refused = {"error": {"message": "response_format is not supported"}}
    wire.answers(Wire.page("400 Bad Request", json.dumps(refused)))
    call = {"index": 0, "id": "a", "function": {"name": REPLY, "arguments": '{"text": "plum"}'}}
    choice = {"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    wire.answers(Wire.STREAM, Wire.event({"choices": [choice]}), Wire.event("[DONE]"), b"0\r\n\r\n")

    made = asks("openai")

    assert (made.reply, made.is_cut, made.error) == ('{"text": "plum"}', False, "")


def test_a_schema_that_cannot_be_strict_is_asked_for_as_it_is(
    wire: Wire, asks: Callable[..., ModelCall]
) -> None:
    wire.answers(Wire.STREAM, Wire.says("{}"), Wire.ends())

    asks("openai", FREE)

    assert form(wire.requests[0][1]) == named(FREE)


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("openai", JSON),
        ("anthropic", {}),
        ("gemini", {"responseMimeType": "application/json"}),
        ("ollama", {"format": "json"}),
    ],
)
def test_without_structure_json_of_any_form_is_asked_for(
    wire: Wire,
    asks: Callable[..., ModelCall],
    speaker_of: "Callable[[RemoteName], Speaker]",
    name: RemoteName,
    left: dict[str, Any],
) -> None:
    speaker = speaker_of(name)
    wire.answers(speaker.begins(), speaker.says("{}"), speaker.ends())

    asks(name, structured=False)

    assert form(wire.requests[0][1]) == left


@tool(may_repeat=True)
def weigh(what: str, scale: int = 1) -> str:
    """Weigh a thing."""
    return f"{what}: 12 g"


STEPS = {
    "planned": (
        '{"thought": "I weigh it.", "action": {"tool": "weigh",'
        ' "parameters": {"what": "plum", "scale": null}}, "confidence": 1}',
        '{"thought": "So.", "action": {"tool": "complete",'
        ' "parameters": {"result": "12 g", "goal": null}}, "confidence": 1}',
    ),
    "implicit": (
        '{"kind": "ACTION", "text": "Weigh the plum"}',
        "weigh",
        '{"what": "plum", "scale": null}',
        '{"kind": "FINAL", "text": "12 g"}',
    ),
}


@pytest.mark.parametrize("policy", STEPS)
@pytest.mark.parametrize("structured", [True, False])
def test_a_run_says_each_form_where_its_version_says_so(
    wire: Wire,
    provider_of: ProviderOf,
    speaker: "Speaker",
    policy: str,
    structured: bool,
) -> None:
    for reply in STEPS[policy]:
        wire.answers(speaker.begins(), speaker.says(reply), speaker.ends())
    control = Control(60)
    parts = Parts(
        Model(provider_of(wire.base_url, provider=speaker.name), control),
        Toolkit([weigh]),
        Limits(max_turns=8),
    )
    state = State("What does the plum weigh?")
    spec = PolicySpec(policy=policy, settings={"structured": structured})

    list(run(build(spec, parts), state, control))

    assert state.outcome is not None
    assert (state.outcome.status, state.outcome.answer) == (Status.SUCCEEDED, "12 g")
    assert state.turns[0].calls[0].inputs == {"what": "plum"}
    forms = [json.dumps(form(body)) for _, body in wire.requests]
    enums = ['"enum": ["weigh"]', '"enum": ["THOUGHT", "ACTION", "FINAL"]']
    assert any(enum in asked for asked in forms for enum in enums) == structured
    assert any('"scale"' in asked for asked in forms) == structured
