"""Where a tool may go: public web servers, and what the administrator allows besides.

The names in a page and the addresses behind them are chosen by strangers. So every address that a
name resolves to is checked, and the connection is made to the checked address itself.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field

import httpx2

from agents.errors import ToolFailed

_PORTS = frozenset({80, 443})
_LENGTH = 4_000
_UNFIT = re.compile(r"[\x00-\x20\x7f\\]")
_METADATA = tuple(map(ipaddress.ip_network, ("168.63.129.16/32", "192.0.0.0/24")))
"""Addresses of cloud providers' own servers that may look public."""

_NAT64 = ipaddress.ip_network("64:ff9b::/96")

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


def web_url(text: str) -> httpx2.URL:
    """Return the address of a web page; raises ToolFailed for any other kind of address."""
    bare = text.strip()
    if not bare or len(bare) > _LENGTH or _UNFIT.search(bare):
        raise ToolFailed("That is no web address; give one such as https://example.org/page.")
    try:
        url = httpx2.URL(bare)
    except (httpx2.InvalidURL, ValueError):
        raise ToolFailed(
            "That is no web address; give one such as https://example.org/page."
        ) from None
    if url.scheme not in ("http", "https"):
        raise ToolFailed("Only addresses that begin with http:// or https:// can be opened.")
    if not url.host or not 0 < port_of(url) < 65536:
        raise ToolFailed("That address names no server.")
    if url.userinfo:
        raise ToolFailed("An address with a user name or password in it is not opened.")
    return url


def port_of(url: httpx2.URL) -> int:
    """Return the port of a web address, its scheme's own if it names none."""
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


@dataclass(frozen=True)
class Reach:
    """The servers that a tool may reach; `allowed` adds hosts, or `host:port` pairs, to the public.

    A host alone is allowed on the ports 80 and 443 only, as are the public ones.
    """

    allowed: frozenset[str] = field(default=frozenset())

    def also(self, address: str) -> "Reach":
        """Return this reach with the one server of a web address that the administrator gave."""
        url = httpx2.URL(address)
        return Reach(self.allowed | {_pair(url.host, port_of(url))})

    def addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses behind a host that may be connected to; raises ToolFailed."""
        name = host.strip("[]").rstrip(".").lower()
        is_allowed = _pair(name, port) in self.allowed
        if not is_allowed and port not in _PORTS:
            raise ToolFailed(f"Port {port} is not open to tools; only 80 and 443 are.")
        found = _resolve(name, port)
        if not is_allowed and name not in self.allowed and not all(map(_is_public, found)):
            raise ToolFailed(f"{host[:200]} is not on the public internet, so it is not opened.")
        return [str(address) for address in found]


def reach_of(allowed: Iterable[str]) -> Reach:
    """Return the reach that a list of hosts and `host:port` pairs adds to the public internet."""
    return Reach(frozenset(entry.strip().lower() for entry in allowed if entry.strip()))


def _pair(host: str, port: int) -> str:
    bare = host.strip("[]").rstrip(".").lower()
    return f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"


def _resolve(host: str, port: int) -> list[IPAddress]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ToolFailed(f"There is no server named {host[:200]}.") from None
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return [ipaddress.ip_address(text) for text in texts]


def _is_public(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(inner)
        if address.teredo is not None:
            return False
    is_metadata = any(address in network for network in _METADATA)
    return address.is_global and not address.is_multicast and not is_metadata
