"""Which model a policy version asks for, as it is stored."""

from typing import Any

from pydantic import Field, SecretStr

from agents.contracts import Value
from agents.providers.price import Price
from agents.providers.vendors import RemoteName


class ModelChoice(Value):
    """The provider and model to call; `auto` takes what the environment offers.

    `provider` is `auto`, `demo`, `scripted`, a dialect, a named provider or one of an extension;
    `connect` refuses any other. `base_url` and `model` may be empty for the provider's own default.
    `script` is for the scripted provider alone: what it says, call by call. `price` is what the
    model costs; None takes it from its named provider, TURNSTONE_PRICES or the vendor's list. No
    secret is ever part of a choice.
    """

    provider: str = Field(default="auto", pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=40)
    model: str = ""
    base_url: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    script: tuple[dict[str, Any], ...] = ()
    price: Price | None = None


class Credentials(Value):
    """A server of models found in the environment, with the key that opens it.

    `provider` is its dialect; `name` and the variable `key_name` are those of a named provider.
    """

    provider: RemoteName = "openai"
    name: str = ""
    key_name: str = ""
    base_url: str
    api_key: SecretStr
    model: str
    found: str
    """Where it was found, in words for the page."""
