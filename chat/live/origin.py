"""Whether a live connection is asked for by a page of this site, told by scheme, host and port.

A browser sends a person's cookie with a WebSocket that any page opens. Names alone are not enough:
cookies and SameSite do not tell ports apart, so a page of another program on the same machine would
read along and grant approvals. The rule is the one that Django has for forms.
"""

import logging
from io import BytesIO
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.utils.http import is_same_domain

logger = logging.getLogger(__name__)

PORTS = {"http": 80, "https": 443}
SCHEMES = {"ws": "http", "wss": "https"}
SEEN_IN_LOG = 200


class Origin(NamedTuple):
    """Where a page comes from; the host is in small letters."""

    scheme: str
    host: str
    port: int


class OwnPagesOnly:
    """Refuse a WebSocket that a page of another origin opens, or whoever names none."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a handshake on, or refuse it."""
        scheme = SCHEMES[scope.get("scheme", "ws")]
        request = ASGIRequest({**scope, "method": "GET", "scheme": scheme}, BytesIO())
        application: Any = self._application if is_own(request) else WebsocketDenier()
        await application(scope, receive, send)


def is_own(request: HttpRequest) -> bool:
    """Tell whether the page that asks is of this site, or of CSRF_TRUSTED_ORIGINS.

    This site is what the request was sent to: its Host, and the scheme that Django takes it to
    have, behind a proxy that of X-Forwarded-Proto. Who names no origin is not of this site.
    """
    given = request.headers.get("Origin", "")
    origin = _parsed(given)
    if origin is not None and (origin == _site(request) or _is_trusted(origin)):
        return True
    logger.warning(
        "A live connection from %s to %s was refused. If people do open it there, have the proxy "
        "pass on Host and X-Forwarded-Proto, or name it in CSRF_TRUSTED_ORIGINS.",
        given[:SEEN_IN_LOG] or "no origin",
        request.headers.get("Host", "")[:SEEN_IN_LOG],
    )
    return False


def is_foreign(request: HttpRequest) -> bool:
    """Tell whether a page of another origin asks, as far as its browser says.

    For what browsers send no Origin with when it is their own page's: to read. That no other page
    can read the answer is the browser's part; this keeps it from being made at all.
    """
    if "Origin" in request.headers:
        return not is_own(request)
    return request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")


def _parsed(text: str) -> Origin | None:
    """Read an origin; None for what is none, such as `null` or a whole address."""
    try:
        parts = urlsplit(text)
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    if not parts.hostname or text != f"{parts.scheme}://{parts.netloc}":
        return None
    return None if "@" in parts.netloc else Origin(parts.scheme, parts.hostname, port)


def _site(request: HttpRequest) -> Origin | None:
    try:
        return _parsed(f"{request.scheme}://{request.get_host()}")
    except DisallowedHost:
        return None


def _is_trusted(origin: Origin) -> bool:
    """Look at CSRF_TRUSTED_ORIGINS, of which `https://*.example.org` has all that ends so."""
    trusted = (_parsed(text.replace("*", "")) for text in settings.CSRF_TRUSTED_ORIGINS)
    return any(
        (origin.scheme, origin.port) == (other.scheme, other.port)
        and is_same_domain(origin.host, other.host)
        for other in trusted
        if other is not None
    )
