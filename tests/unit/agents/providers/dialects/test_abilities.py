"""What a model can is learnt from its server: once, in each server's own words, in nobody's way."""

import json
import socket
import threading
from typing import Any

import pytest

from agents.control import Control
from agents.errors import Stopped
from agents.providers.abilities import UNKNOWN, Abilities
from agents.providers.base import TOOLS
from agents.providers.wire.learning import KEPT_SECONDS, Learning
from tests.unit.agents.providers.calls import ProviderOf
from tests.unit.agents.providers.wire import Wire


def listed(**entry: Any) -> str:
    return json.dumps({"object": "list", "data": [{"id": "other"}, {"id": "m"} | entry]})


OPENROUTER = listed(
    context_length=64_000,
    supported_parameters=["tools", "stop"],
    architecture={"input_modalities": ["text", "image"]},
)
MISTRAL = listed(
    max_context_length=32_768, capabilities={"function_calling": True, "vision": False}
)
LLAMA = listed(owned_by="llamacpp", meta={"n_ctx_train": 131_072})
PROPS = json.dumps(
    {
        "default_generation_settings": {"n_ctx": 8_192},
        "chat_template_caps": {"supports_tools": False},
        "modalities": {"vision": False},
    }
)
SHOWN = {
    "capabilities": ["completion", "tools"],
    "model_info": {"general.architecture": "llama", "llama.context_length": 131_072},
}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (listed(max_model_len=8_192), Abilities(context_length=8_192)),
        (listed(context_window="131072"), Abilities(context_length=131_072)),
        (OPENROUTER, Abilities(context_length=64_000, tools=True, vision=True, thinking=False)),
        (MISTRAL, Abilities(context_length=32_768, tools=True, vision=False)),
        (listed(), UNKNOWN),
        (listed(max_model_len=-1, context_length="many", capabilities=["tools"]), UNKNOWN),
        ('{"data": {"id": "m"}}', UNKNOWN),
        ("no JSON", UNKNOWN),
        ("[" * 100_000, UNKNOWN),
    ],
)
def test_a_list_of_models_says_what_one_can(
    provider_of: ProviderOf, wire: Wire, said: str, found: Abilities
) -> None:
    wire.tells("/v1/models", said)
    provider = provider_of(wire.base_url)

    provider.learn(Control(60))

    assert provider.abilities == found
    assert provider.context_length == found.context_length


def test_llamacpp_takes_what_its_slots_have_and_not_what_the_model_was_trained_with(
    provider_of: ProviderOf, wire: Wire
) -> None:
    wire.tells("/v1/models", LLAMA)
    wire.tells("/props", PROPS)
    provider = provider_of(wire.base_url)

    provider.learn(Control(60))

    assert provider.abilities == Abilities(context_length=8_192, tools=False, vision=False)
    assert provider.refuses(TOOLS)


def test_llamacpp_that_says_nothing_of_its_slots_takes_what_the_model_was_trained_with(
    provider_of: ProviderOf, wire: Wire
) -> None:
    wire.tells("/v1/models", LLAMA)
    provider = provider_of(wire.base_url)

    provider.learn(Control(60))

    assert provider.context_length == 131_072


@pytest.mark.parametrize(
    ("more", "length"), [({}, 16_384), ({"parameters": "stop x\nnum_ctx    32768"}, 32_768)]
)
def test_ollama_is_asked_for_as_many_tokens_as_are_reckoned_with(
    provider_of: ProviderOf, wire: Wire, more: dict[str, Any], length: int
) -> None:
    wire.tells("/api/show", json.dumps(SHOWN | more))
    provider = provider_of(wire.base_url, provider="ollama")

    provider.learn(Control(60))

    assert provider.abilities == Abilities(
        context_length=length, tools=True, vision=False, thinking=False
    )
    assert wire.questions == ["/api/show"]


def test_gemini_says_how_much_goes_in(provider_of: ProviderOf, wire: Wire) -> None:
    wire.tells("/v1/models/m", '{"inputTokenLimit": 1048576, "thinking": true}')
    provider = provider_of(wire.base_url, provider="gemini")

    provider.learn(Control(60))

    assert provider.abilities == Abilities(context_length=1_048_576, thinking=True)


def test_a_server_is_asked_once_for_each_model(provider_of: ProviderOf, wire: Wire) -> None:
    wire.tells("/v1/models", listed(max_model_len=8_192))

    for model in ("m", "m", "other", "m", "other"):
        provider_of(wire.base_url, model).learn(Control(60))

    assert wire.questions == ["/v1/models"] * 2


def test_a_server_that_says_nothing_is_not_asked_at_each_step(
    provider_of: ProviderOf, wire: Wire
) -> None:
    for _ in range(3):
        provider_of(wire.base_url).learn(Control(60))

    assert wire.questions == ["/v1/models"]


def test_what_was_said_is_asked_for_again_when_it_is_old(
    provider_of: ProviderOf, wire: Wire
) -> None:
    hours = [0.0]
    provider = provider_of(wire.base_url)
    transport = provider._server.learning._transport
    learning = Learning(transport, clock=lambda: hours[0])
    said = [Abilities(context_length=4_096), Abilities(context_length=8_192), UNKNOWN]

    found = []
    for _ in range(3):
        found.append(learning.learn("m", Control(60), lambda _: said.pop(0)))
        found.append(learning.learn("m", Control(60), lambda _: said.pop(0)))
        hours[0] += KEPT_SECONDS

    assert [one.context_length for one in found] == [4_096, 4_096, 8_192, 8_192, 8_192, 8_192]


def test_a_server_that_hangs_keeps_no_run_waiting(provider_of: ProviderOf) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        provider = provider_of(f"http://127.0.0.1:{mute.getsockname()[1]}/v1")

        provider.learn(Control(60, idle_seconds=60))

    assert provider.abilities == UNKNOWN


def test_nobody_at_the_address_is_no_fault_of_the_question(provider_of: ProviderOf) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    provider = provider_of(f"http://127.0.0.1:{port}/v1")

    provider.learn(Control(60))

    assert provider.abilities == UNKNOWN


def test_a_stop_ends_the_question_as_well(provider_of: ProviderOf) -> None:
    control = Control(60)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        provider = provider_of(f"http://127.0.0.1:{mute.getsockname()[1]}/v1")

        def stopped() -> None:
            mute.accept()
            control.stop()

        threading.Thread(target=stopped).start()

        with pytest.raises(Stopped):
            provider.learn(control)


def test_what_a_refusal_has_said_of_the_length_comes_first(
    provider_of: ProviderOf, wire: Wire
) -> None:
    wire.tells("/v1/models", listed(max_model_len=32_000))
    provider = provider_of(wire.base_url)
    provider.learn(Control(60))

    provider._server.lengths["m"] = 8_192

    assert provider_of(wire.base_url).context_length == 8_192


@pytest.mark.parametrize(
    ("abilities", "words"),
    [
        (UNKNOWN, ""),
        (Abilities(context_length=8_192, tools=True), "8,192 tokens, native tools"),
        (Abilities(vision=False, thinking=True), "no pictures, thinking"),
    ],
)
def test_what_a_model_can_is_told_in_words(abilities: Abilities, words: str) -> None:
    assert abilities.told == words
