"""The providers that call a server, by the dialect that it speaks."""

from agents.providers.anthropic import AnthropicProvider
from agents.providers.choice import RemoteName
from agents.providers.gemini import GeminiProvider
from agents.providers.ollama import OllamaProvider
from agents.providers.openai import OpenAIProvider
from agents.providers.wire.remote import RemoteProvider

PROVIDERS: dict[RemoteName, type[RemoteProvider]] = {
    "openai": OpenAIProvider,
    "anthropic": AnthropicProvider,
    "gemini": GeminiProvider,
    "ollama": OllamaProvider,
}
