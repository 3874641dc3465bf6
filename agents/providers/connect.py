"""Turn the model that a policy version asks for into a provider that answers."""

from collections.abc import Mapping

from pydantic import SecretStr

from agents.errors import ConfigurationError
from agents.providers.base import Provider
from agents.providers.choice import Credentials, ModelChoice
from agents.providers.demo import DemoProvider
from agents.providers.discovery import NO_KEY, discover, origin
from agents.providers.scripted import ScriptedProvider


def connect(choice: ModelChoice, environment: Mapping[str, str], *, position: int = 0) -> Provider:
    """Return the provider of `choice`, with what `environment` offers.

    `position` is the number of calls the run has made before. Raises ConfigurationError when the
    choice cannot be met; only `auto` falls back to the demo model.
    """
    match choice.provider:
        case "scripted":
            return ScriptedProvider(choice.script, position)
        case "demo":
            return DemoProvider()
        case "auto" if not choice.base_url:
            credentials = discover(environment)
            return DemoProvider() if credentials is None else _openai(choice, credentials)
        case _:
            return _openai(choice, _credentials(choice, environment))


def _credentials(choice: ModelChoice, environment: Mapping[str, str]) -> Credentials:
    """Find the key for the chosen server.

    Whoever writes a policy names its server, but must not be sent the key of another one: the
    key of the environment goes only to the address that the environment gives with it.
    """
    chosen = origin(choice.base_url) if choice.base_url else None
    found = discover(environment)
    if chosen is None:
        if found is None:
            raise ConfigurationError(
                "This policy asks for an OpenAI-compatible model, and none is configured. Set "
                "OPENAI_API_KEY or OPENAI_BASE_URL, or start a local server such as Ollama."
            )
        return found
    if found is not None and origin(found.base_url) == chosen:
        return found
    return Credentials(
        base_url=choice.base_url, api_key=SecretStr(NO_KEY), model="", found="the policy"
    )


def _openai(choice: ModelChoice, credentials: Credentials) -> Provider:
    # The SDK takes two seconds to import; a process that calls no such model goes without.
    from agents.providers.openai import OpenAIProvider

    model = choice.model or credentials.model
    if not model:
        raise ConfigurationError(
            f"Which model to ask is not known: {credentials.found} names none, and no server of "
            "this machine lists one there. Set TURNSTONE_MODEL, or name the model in the policy."
        )
    return OpenAIProvider(credentials.model_copy(update={"model": model}))
