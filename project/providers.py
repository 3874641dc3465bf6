"""The models that an installation has, as its operator names them."""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from agents.errors import ConfigurationError
from agents.providers.named.file import read_providers
from agents.providers.named.providers import NO_NAMES, NamedProviders


def named(file: str, base: Path) -> NamedProviders:
    """Return the named providers of a file, none for no file; a relative one lies below `base`.

    Raises ImproperlyConfigured, with what is to be mended.
    """
    if not file.strip():
        return NO_NAMES
    try:
        return read_providers(base / Path(file.strip()).expanduser())
    except ConfigurationError as error:
        raise ImproperlyConfigured(str(error)) from None
