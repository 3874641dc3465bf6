"""The address of a model server: read strictly, and compared in its one spelling."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from agents.errors import ConfigurationError


def origin(base_url: str, name: str = "base_url") -> tuple[str, str, int, str]:
    """Return the scheme, host, port and path of a server's address, each in its one spelling.

    Raises ConfigurationError, naming `name`, for what is no http address or carries a password.
    """
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), 0
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in ("http", "https") or not re.fullmatch(
        r"[^\s%<>\\^`{|}\x00-\x1f]+", host
    ):
        raise ConfigurationError(
            f"{name} must be an address such as http://127.0.0.1:11434/v1 or "
            "https://api.openai.com/v1."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigurationError(
            f"{name} must be a plain address: put no name, password or query in it. "
            "The key belongs in a variable of its own, such as OPENAI_API_KEY."
        )
    return parts.scheme, host, port, parts.path.rstrip("/")


def is_loopback(base_url: str) -> bool:
    """Tell whether an address is one of this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
