"""Settings that would leave the door open are refused, with what to do."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured

from project.errors import CannotStart

SHORTEST_KEY = 32
LOOPBACK = ("localhost", "::1", "[::1]")


@contextmanager
def ended_in_words() -> Iterator[None]:
    """End the process, whatever program it is, with the one line and no traceback."""
    try:
        yield
    except (CannotStart, ImproperlyConfigured) as error:
        sys.exit(f"ERROR: {error}")


def long_enough(key: str) -> str:
    """Return a key that sessions may be signed with; raises ImproperlyConfigured."""
    if len(key) < SHORTEST_KEY:
        raise ImproperlyConfigured(
            f"SECRET_KEY has {len(key)} characters, and whoever guesses it is anybody: give it "
            f"{SHORTEST_KEY} random ones or more, such as those of `openssl rand -base64 48`."
        )
    return key


def one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    """Return what a variable says if it is known; raises ImproperlyConfigured."""
    if value not in known:
        raise ImproperlyConfigured(f"{name}={value} is not one of {', '.join(known)}.")
    return value


def for_developers(debug: bool, host: str) -> bool:
    """Return whether error pages show their inner workings; raises ImproperlyConfigured."""
    if debug and not (host in LOOPBACK or host.startswith("127.")):
        raise ImproperlyConfigured(
            f"TURNSTONE_DEBUG shows the code and settings to everybody who reaches HOST={host}: "
            "leave one of the two out."
        )
    return debug
