"""Anthropic is told where the beginning ends that the next request will have as well."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Message, Role
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from agents.providers.vendors import RemoteName
    from tests.unit.agents.providers.dialects.conftest import Speaker

CONVERSATION = [
    Message(role=Role.SYSTEM, content="Be brief."),
    Message(role=Role.USER, content="Before?"),
    Message(role=Role.ASSISTANT, content="So."),
    Message(role=Role.USER, content="Now?"),
]


def marked(body: dict[str, Any]) -> list[str]:
    """Return the texts that have a mark, the rules first."""
    blocks = [*body["system"], *(block for one in body["messages"] for block in one["content"])]
    return [block["text"] for block in blocks if "cache_control" in block]


@pytest.fixture
def speaker(speaker_of: "Callable[[RemoteName], Speaker]") -> "Speaker":
    return speaker_of("anthropic")


def test_the_rules_and_the_conversation_before_the_question_are_kept(
    ask: Ask, wire: Wire, speaker: "Speaker"
) -> None:
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    ask(wire.base_url, messages=CONVERSATION, provider="anthropic")

    assert marked(wire.requests[0][1]) == ["Be brief.", "So."]


def test_a_server_that_knows_no_such_marks_is_asked_without_from_then_on(
    ask: Ask, wire: Wire, speaker: "Speaker"
) -> None:
    refusal = {"type": "invalid_request_error", "message": "cache_control: Extra inputs"}
    wire.answers(wire.page("400 Bad Request", json.dumps({"type": "error", "error": refusal})))
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    for _ in range(2):
        reply = ask(wire.base_url, messages=CONVERSATION, provider="anthropic")

    assert reply.answer == "fine"
    assert ["cache_control" in json.dumps(body) for _, body in wire.requests] == [
        True,
        False,
        False,
    ]
    assert wire.requests[1][1]["system"] == "Be brief."
