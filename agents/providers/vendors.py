"""The model servers that there are: another one is a file with its dialect and an entry here."""

from dataclasses import dataclass
from typing import Literal, TypeGuard

RemoteName = Literal["openai", "anthropic", "gemini", "ollama"]
"""The dialects that model servers speak; `openai` is the one that most of them know."""


@dataclass(frozen=True)
class Vendor:
    """Where a vendor's own servers are, the variables that configure them, and their dialect.

    `dialect` names the class that speaks it, which is imported once it is asked.
    `model` is asked when TURNSTONE_MODEL names none: cheap, quick and enough for tools. At another
    address than the vendor's own it is only taken if `keeps_model`.
    """

    dialect: str
    base_url: str
    model: str
    keys: tuple[str, ...]
    address: str
    keeps_model: bool = True


VENDORS: dict[RemoteName, Vendor] = {
    "openai": Vendor(
        dialect="agents.providers.openai:OpenAIProvider",
        base_url="https://api.openai.com/v1",
        model="gpt-5.4-mini",
        keys=("OPENAI_API_KEY",),
        address="OPENAI_BASE_URL",
        keeps_model=False,
    ),
    "anthropic": Vendor(
        dialect="agents.providers.anthropic:AnthropicProvider",
        base_url="https://api.anthropic.com",
        model="claude-haiku-5-5",
        keys=("ANTHROPIC_API_KEY",),
        address="ANTHROPIC_BASE_URL",
    ),
    "gemini": Vendor(
        dialect="agents.providers.gemini:GeminiProvider",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        model="gemini-3.8-flash",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        address="GEMINI_BASE_URL",
    ),
    "ollama": Vendor(
        dialect="agents.providers.ollama:OllamaProvider",
        base_url="https://ollama.com",
        model="",
        keys=("OLLAMA_API_KEY",),
        address="OLLAMA_BASE_URL",
    ),
}


def is_remote(name: str) -> TypeGuard[RemoteName]:
    """Tell whether it is the name of a dialect."""
    return name in VENDORS
