"""A model that has no temperature to set is asked without one."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from agents.providers.vendors import RemoteName
    from tests.unit.agents.providers.dialects.conftest import Speaker


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        ("openai", "Unsupported value: 'temperature' does not support 0.7 with this model."),
        ("openai", "Unsupported parameter: 'temperature' is not supported with this model."),
        ("anthropic", "`temperature` is deprecated for this model."),
        ("anthropic", "`temperature` may only be set to 1 when thinking is enabled."),
    ],
)
def test_a_model_without_a_temperature_is_asked_without_and_the_record_shows_it(
    ask: Ask,
    wire: Wire,
    speaker_of: "Callable[[RemoteName], Speaker]",
    provider: "RemoteName",
    words: str,
) -> None:
    speaker = speaker_of(provider)
    wire.answers(wire.page("400 Bad Request", json.dumps({"error": {"message": words}})))
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())

    first = ask(wire.base_url, provider=provider, temperature=0.7)
    ask(wire.base_url, provider=provider, temperature=0.7)

    assert ["temperature" in body for _, body in wire.requests] == [True, False, False]
    assert '"model"' in first.posted
    assert "temperature" not in first.posted
