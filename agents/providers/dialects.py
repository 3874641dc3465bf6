"""The providers that call a server, by the dialect that it speaks."""

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from agents.providers.vendors import VENDORS, RemoteName

if TYPE_CHECKING:
    from agents.providers.wire.remote import RemoteProvider


def dialect(name: RemoteName) -> "type[RemoteProvider]":
    """Return the provider that speaks a dialect; the demo model never waits for this import."""
    # The HTTP library takes a quarter of a second to import.
    found: type[RemoteProvider] = resolve_name(VENDORS[name].dialect)
    return found
