"""Turn the model that a policy version asks for into a provider that answers."""

from collections.abc import Mapping

from pydantic import SecretStr

from agents.errors import ConfigurationError, UnknownProvider
from agents.providers.address import origin
from agents.providers.base import Provider
from agents.providers.brought import BROUGHT, made, provider_names
from agents.providers.choice import Credentials, ModelChoice
from agents.providers.demo import DemoProvider
from agents.providers.dialects import dialect
from agents.providers.discovery import (
    LOCAL_OLLAMA,
    NO_KEY,
    configured,
    discover,
    first_model,
    local_server,
    opened,
)
from agents.providers.named.provider import NamedProvider
from agents.providers.named.providers import NO_NAMES, NamedProviders
from agents.providers.scripted import ScriptedProvider
from agents.providers.vendors import VENDORS, RemoteName, is_remote


def connect(
    choice: ModelChoice,
    environment: Mapping[str, str],
    named: NamedProviders = NO_NAMES,
    *,
    position: int = 0,
) -> Provider:
    """Return the provider of `choice`, with what `environment` and the named providers offer.

    `position` is the number of calls the run has made before. Raises ConfigurationError when the
    choice cannot be met; only `auto` falls back to the demo model.
    """
    match choice.provider:
        case "scripted":
            return ScriptedProvider(choice.script, position)
        case "demo":
            return DemoProvider()
        case "auto" if not choice.base_url:
            credentials = discover(environment, named)
            return DemoProvider() if credentials is None else _remote(choice, credentials)
        case "auto":
            return _remote(choice, _credentials(choice, "openai", environment))
        case provider if is_remote(provider):
            return _remote(choice, _credentials(choice, provider, environment))
    if (chosen := named.get(choice.provider)) is not None:
        return _remote(choice, _named(choice, chosen, environment))
    if choice.provider in BROUGHT:
        return made(choice, environment)
    there_are = ", ".join((*provider_names(), *named.names))
    raise UnknownProvider(
        f"There is no provider {choice.provider!r}; there are {there_are}. If an extension brought "
        "it, that extension is not loaded here."
    )


def _credentials(
    choice: ModelChoice, provider: RemoteName, environment: Mapping[str, str]
) -> Credentials:
    """Find the key for the chosen server.

    Whoever writes a policy names its server, but must not be sent the key of another one: the
    key of the environment goes only to the address that the environment gives with it.
    """
    chosen = origin(choice.base_url) if choice.base_url else None
    found = _offered(provider, environment)
    if chosen is None:
        if found is None:
            raise ConfigurationError(_missing(provider))
        return found
    if found is not None and origin(found.base_url) == chosen:
        return found
    return _keyless(provider, choice.base_url, "", "the policy")


def _named(
    choice: ModelChoice, named: NamedProvider, environment: Mapping[str, str]
) -> Credentials:
    """Open a named provider, whose address a policy cannot change."""
    if choice.base_url and origin(choice.base_url) != origin(named.base_url):
        raise ConfigurationError(
            f"This policy asks the provider {named.name!r} at another address than its own. Leave "
            "the address out, or name a dialect."
        )
    return opened(named, environment)


def _offered(provider: RemoteName, environment: Mapping[str, str]) -> Credentials | None:
    """Return the server of one dialect that the environment or this machine offers."""
    found = configured(provider, environment)
    if found is None and provider == "ollama":
        model = environment.get("TURNSTONE_MODEL", "").strip()
        model = model or first_model(provider, LOCAL_OLLAMA)
        return _keyless(provider, LOCAL_OLLAMA, model, "Ollama on this machine")
    if found is None and provider == "openai":
        return local_server(environment)
    return found


def _keyless(provider: RemoteName, base_url: str, model: str, found: str) -> Credentials:
    return Credentials(
        provider=provider, base_url=base_url, api_key=SecretStr(NO_KEY), model=model, found=found
    )


def _missing(provider: RemoteName) -> str:
    if provider == "openai":
        return (
            "This policy asks for an OpenAI-compatible model, and none is configured. Set "
            "OPENAI_API_KEY or OPENAI_BASE_URL, or start a local server such as Ollama."
        )
    vendor = VENDORS[provider]
    return (
        f"This policy asks for a model of {provider.capitalize()}, and none is configured. Set "
        f"{' or '.join(vendor.keys)}, or {vendor.address} for a server that needs no key."
    )


def _remote(choice: ModelChoice, credentials: Credentials) -> Provider:
    model = choice.model or credentials.model
    if not model:
        raise ConfigurationError(
            f"Which model to ask is not known: {credentials.found} names none, and no server of "
            "this machine lists one there. Set TURNSTONE_MODEL, name the model in the policy, or "
            "give a named provider its models."
        )
    return dialect(credentials.provider)(credentials.model_copy(update={"model": model}))
