"""Named providers as an operator writes them: a TOML file with a `[[provider]]` for each."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agents.errors import ConfigurationError
from agents.providers.named.provider import NamedProvider
from agents.providers.named.providers import NO_NAMES, NamedProviders
from agents.providers.vendors import VENDORS

SETTING = "TURNSTONE_PROVIDERS"


def providers_in(environment: Mapping[str, str]) -> NamedProviders:
    """Return the providers of the file that the environment names; raises ConfigurationError."""
    file = environment.get(SETTING, "").strip()
    return read_providers(Path(file).expanduser()) if file else NO_NAMES


def read_providers(path: Path) -> NamedProviders:
    """Read a file of providers; raises ConfigurationError naming the file, the entry and why."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _unreadable(path, f"it cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unreadable(path, f"it is no TOML: {error}") from None
    entries = found.pop("provider", [])
    if found:
        raise _unreadable(path, f"it has {', '.join(found)}, and only [[provider]] is known")
    if not isinstance(entries, list):
        raise _unreadable(path, "each provider must begin with [[provider]], in two brackets")
    try:
        return NamedProviders(_read(entry, path, n) for n, entry in enumerate(entries, 1))
    except ConfigurationError as error:
        message = str(error)
        raise error if message.startswith(SETTING) else _unreadable(path, message) from None


def _read(entry: Any, path: Path, n: int) -> NamedProvider:
    named = entry.get("name") if isinstance(entry, dict) else None
    which = f"provider {n}" + (f" ({named!r})" if isinstance(named, str) else "")
    try:
        return NamedProvider.model_validate(entry)
    except ValidationError as error:
        raise _unreadable(path, f"{which}: {_in_words(error)}") from None


def _in_words(error: ValidationError) -> str:
    """Say what is wrong with an entry; what was written there is not repeated."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(map(str, first["loc"]))
    is_own = len(first["loc"]) == 1
    match first["type"], field:
        case "literal_error", "dialect":
            said = f"it must be one of {', '.join(VENDORS)}"
        case "missing", _:
            said = "it is missing"
        case "extra_forbidden", _ if is_own:
            said = f"it is not known; there are {', '.join(NamedProvider.model_fields)}"
        case _:
            said = first["msg"].removeprefix("Value error, ")
    return f"{field}: {said.rstrip('.')}." if field else said


def _unreadable(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(f"{SETTING}: {path}: {why}")
