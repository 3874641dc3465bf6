"""A vendor's key goes to the address that is configured with it, and to no other."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from agents.control import Control
from agents.providers.choice import ModelChoice
from agents.providers.connect import connect
from agents.providers.vendors import VENDORS, RemoteName
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from tests.unit.agents.providers.dialects.conftest import Speaker


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
def test_no_vendors_key_is_sent_to_a_server_that_a_policy_names(
    wire: Wire, provider: RemoteName, speaker_of: "Callable[[RemoteName], Speaker]"
) -> None:
    speaker = speaker_of(provider)
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())
    environment = {name: "sk-secret" for vendor in VENDORS.values() for name in vendor.keys}
    choice = ModelChoice(provider=provider, base_url=f"http://{wire.place}", model="m")

    list(connect(choice, environment).stream('{"messages": []}', Control(30)))

    assert "sk-secret" not in wire.requests[0][0]


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "ollama"])
def test_a_vendors_key_is_sent_to_the_address_that_is_configured_with_it(
    wire: Wire, provider: RemoteName, speaker_of: "Callable[[RemoteName], Speaker]"
) -> None:
    speaker, vendor = speaker_of(provider), VENDORS[provider]
    wire.answers(speaker.begins(), speaker.says("fine"), speaker.ends())
    environment = {vendor.keys[0]: "sk-mine", vendor.address: f"http://{wire.place}/"}
    choice = ModelChoice(provider=provider, base_url=f"HTTP://{wire.place}", model="m")

    list(connect(choice, environment).stream('{"messages": []}', Control(30)))

    assert f"{speaker.key_header}sk-mine" in wire.requests[0][0].lower()
