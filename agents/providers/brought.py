"""Providers that extensions bring, each by the name that a policy's version asks for it by."""

from collections.abc import Callable, Mapping

from agents.errors import AgentError, ConfigurationError
from agents.providers.base import Provider
from agents.providers.choice import ModelChoice
from agents.providers.vendors import VENDORS

OURS = ("auto", "demo", "scripted", *VENDORS)
"""The providers that need no extension."""

MakeProvider = Callable[[ModelChoice, Mapping[str, str]], Provider]
"""Makes the provider of a choice with what the environment offers."""

BROUGHT: dict[str, MakeProvider] = {}
"""A name -> how its provider is made."""


def provider_names() -> tuple[str, ...]:
    """Return every provider that a policy can name, ours first."""
    return (*OURS, *BROUGHT)


def made(choice: ModelChoice, environment: Mapping[str, str]) -> Provider:
    """Return the provider that an extension brought; raises ConfigurationError if it fails."""
    name = choice.provider
    try:
        provider = BROUGHT[name](choice, environment)
    except AgentError:
        raise
    except Exception as error:
        raise ConfigurationError(f"The provider {name!r} cannot be made: {error}") from error
    if not isinstance(provider, Provider) or provider.name != name:
        raise ConfigurationError(
            f"What its extension makes as the provider {name!r} is none of that name."
        )
    return provider
