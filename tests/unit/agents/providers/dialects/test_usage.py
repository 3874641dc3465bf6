"""What a server counts is told in one form: cached tokens are input, thoughts are output."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from agents.contracts import Usage
from agents.providers.vendors import RemoteName
from tests.unit.agents.providers.calls import Ask
from tests.unit.agents.providers.wire import Wire

if TYPE_CHECKING:
    from tests.unit.agents.providers.dialects.conftest import Speaker

DETAILS = {
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 12},
}
WHOLE = Usage(input_tokens=100, output_tokens=20, cached_tokens=60, reasoning_tokens=12)
OPENAI = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120} | DETAILS
XAI = {"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 120} | DETAILS
DEEPSEEK = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_cache_hit_tokens": 60}
GEMINI = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 60,
    "candidatesTokenCount": 8,
    "thoughtsTokenCount": 12,
}
CLAUDE = {"input_tokens": 30, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 60}
END: dict[str, Any] = {"delta": {}, "finish_reason": "stop"}


@pytest.mark.parametrize(
    ("name", "chunk", "usage"),
    [
        ("openai", {"choices": [END], "usage": OPENAI}, WHOLE),
        ("openai", {"choices": [END], "usage": XAI}, WHOLE),
        ("openai", {"choices": [END | {"usage": OPENAI}]}, WHOLE),
        ("openai", {"choices": [END], "x_groq": {"usage": OPENAI}}, WHOLE),
        (
            "openai",
            {"choices": [END], "usage": DEEPSEEK},
            WHOLE.model_copy(update={"reasoning_tokens": None}),
        ),
        ("openai", {"choices": [END], "x_groq": None, "usage": {}}, Usage()),
        ("gemini", {"candidates": [{"finishReason": "STOP"}], "usageMetadata": GEMINI}, WHOLE),
        (
            "anthropic",
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn"},
                "usage": CLAUDE | {"output_tokens": 20},
            },
            WHOLE.model_copy(update={"reasoning_tokens": None}),
        ),
    ],
)
def test_usage_is_whole_in_every_dialect(
    ask: Ask,
    wire: Wire,
    speaker_of: "Callable[[RemoteName], Speaker]",
    name: RemoteName,
    chunk: Any,
    usage: Usage,
) -> None:
    speaker = speaker_of(name)
    begins = (
        speaker.begins()
        if name != "anthropic"
        else Wire.STREAM + speaker.sends({"type": "message_start", "message": {}})
    )
    stops = speaker.sends({"type": "message_stop"}) if name == "anthropic" else b""
    wire.answers(begins, speaker.says("ok"), speaker.sends(chunk), stops, b"0\r\n\r\n")

    assert ask(wire.base_url, provider=name).finish.usage == usage
