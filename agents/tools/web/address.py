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
_SPECIAL_V4 = [
    ipaddress.IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # a cloud provider's own server that looks public
    )
]
"""What is no public server of the IANA's registry of special addresses."""

_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_V6 = [
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "3fff::/20")  # protocols, Teredo; examples
]
_6TO4 = ipaddress.IPv6Network("2002::/16")
_TRANSLATED = [ipaddress.IPv6Network(network) for network in ("::ffff:0:0/96", "64:ff9b::/96")]
"""Addresses that are an IPv4 address in other clothes: mapped, and by the well-known NAT64."""

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
    """Tell by our own tables: what Python knows of special addresses changes with its version."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    embedded = _embedded(address)
    if embedded is not None and not _is_public(embedded):
        return False
    if any(address in network for network in _TRANSLATED):
        return True
    return address in _GLOBAL_V6 and not any(address in network for network in _SPECIAL_V6)


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that traffic to this one may come out at."""
    number = int(address)
    if address in _6TO4:
        return ipaddress.IPv4Address(number >> 80 & 0xFFFFFFFF)
    is_isatap = number >> 32 & 0xFDFFFFFF == 0x00005EFE
    if is_isatap or any(address in network for network in _TRANSLATED):
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None
