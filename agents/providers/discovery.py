"""Find a server of models in what the environment offers, without a file to edit.

First what is configured, in the order of VENDORS: OpenAI or any server that speaks its dialect,
Anthropic, Gemini, Ollama. Then the named providers whose keys are there, then the servers of this
machine that answer. TURNSTONE_MODEL names the model, whichever server the environment names or is
found; a named provider has its own models.
"""

import re
from collections.abc import Mapping

from pydantic import SecretStr

from agents.errors import ConfigurationError
from agents.providers.address import is_loopback, origin
from agents.providers.choice import Credentials
from agents.providers.listing import has, listed, picked
from agents.providers.named.provider import NamedProvider
from agents.providers.named.providers import NO_NAMES, NamedProviders
from agents.providers.vendors import VENDORS, RemoteName

NO_KEY = "none"
"""What is sent as the key to a server that asks for none."""
LOCAL_OLLAMA = "http://127.0.0.1:11434"
LOCAL_SERVERS = {
    f"{LOCAL_OLLAMA}/v1": "Ollama",
    "http://127.0.0.1:1234/v1": "LM Studio",
    "http://127.0.0.1:8000/v1": "vLLM",
    "http://127.0.0.1:8080/v1": "llama.cpp",
}


def discover(
    environment: Mapping[str, str], named: NamedProviders = NO_NAMES
) -> Credentials | None:
    """Return the server to call with its key and model, None when there is none.

    The model is empty when nothing says which one a configured server has. Raises
    ConfigurationError for an address or TURNSTONE_LOCAL_SERVERS that is none; a server that is
    absent or not one of models raises nothing.
    """
    for provider in VENDORS:
        if found := configured(provider, environment):
            return found
    for one in named:
        if one.has_key(environment):
            return opened(one, environment)
    return local_server(environment)


def opened(named: NamedProvider, environment: Mapping[str, str]) -> Credentials:
    """Return a named provider with its key; raises ConfigurationError where that is not there."""
    if not named.has_key(environment):
        raise ConfigurationError(
            f"The provider {named.name!r} needs the variable {named.key}, which is not set. Set it "
            "where Turnstone's workers and web processes start."
        )
    key = environment.get(named.key, "").strip() if named.key else ""
    model = next(iter(named.models), "") or first_model(named.dialect, named.base_url, key)
    return Credentials(
        provider=named.dialect,
        name=named.name,
        key_name=named.key,
        base_url=named.base_url,
        api_key=SecretStr(key or NO_KEY),
        model=model,
        found=f"the provider {named.name!r}",
    )


def configured(provider: RemoteName, environment: Mapping[str, str]) -> Credentials | None:
    """Return the server of one dialect that the environment names, None when it names none."""
    vendor = VENDORS[provider]
    address = environment.get(vendor.address, "").strip()
    keys = {name: environment.get(name, "").strip() for name in vendor.keys}
    variable, key = next(((n, k) for n, k in keys.items() if k), (vendor.address, ""))
    if address:
        origin(address, vendor.address)
    elif not key:
        return None
    model = environment.get("TURNSTONE_MODEL", "").strip()
    if not address or vendor.keeps_model:
        model = model or vendor.model
    return Credentials(
        provider=provider,
        base_url=address or vendor.base_url,
        api_key=SecretStr(key or NO_KEY),
        model=model or first_model(provider, address or vendor.base_url, key),
        found=f"{variable} in the environment",
    )


def address_of(provider: str, environment: Mapping[str, str]) -> str:
    """Return where the environment has the models of a dialect, empty where it names none."""
    vendor = next((vendor for name, vendor in VENDORS.items() if name == provider), None)
    if vendor is None:
        return ""
    has_key = any(environment.get(name, "").strip() for name in vendor.keys)
    return environment.get(vendor.address, "").strip() or (vendor.base_url if has_key else "")


def first_model(provider: RemoteName, base_url: str, key: str = "") -> str:
    """Return the first model that a server of this machine lists, empty for none or elsewhere."""
    if not is_loopback(base_url):
        return ""
    if provider == "ollama":
        base_url = f"{base_url.rstrip('/').removesuffix('/api').removesuffix('/v1')}/v1"
    return picked(listed([base_url], key)[0], "")


def local_server(environment: Mapping[str, str]) -> Credentials | None:
    """Ask all local servers at once; the first in the list that has the wanted model, or any."""
    servers = _servers(environment.get("TURNSTONE_LOCAL_SERVERS"))
    wanted = environment.get("TURNSTONE_MODEL", "").strip()
    if not servers:
        return None
    found = [(url, models) for url, models in zip(servers, listed(servers), strict=True) if models]
    found.sort(key=lambda offer: not has(offer[1], wanted))
    for url, models in found:
        if model := picked(models, wanted):
            name = LOCAL_SERVERS.get(url, url)
            missing = "" if not wanted or has(models, wanted) else f"; {wanted} is not there"
            return Credentials(
                base_url=url,
                api_key=SecretStr(NO_KEY),
                model=model,
                found=f"{name} on this machine ({model}{missing})",
            )
    return None


def _servers(setting: str | None) -> list[str]:
    """Read TURNSTONE_LOCAL_SERVERS: addresses between commas or spaces, none for no probing."""
    if not setting or not setting.strip():
        return list(LOCAL_SERVERS)
    if setting.strip().lower() == "none":
        return []
    servers = [part.rstrip("/") for part in re.split(r"[\s,]+", setting.strip()) if part]
    for server in servers:
        origin(server, "TURNSTONE_LOCAL_SERVERS")
        if not is_loopback(server):
            raise ConfigurationError(
                "TURNSTONE_LOCAL_SERVERS may only name servers of this machine (127.0.0.1). "
                "Set OPENAI_BASE_URL for any other."
            )
    return servers
