"""Where to listen: the address from HOST and PORT, checked before anything is started."""

import contextlib
import errno
import socket
from dataclasses import dataclass

import psutil

from project.errors import CannotStart

ANYWHERE = ("0.0.0.0", "::")  # noqa: S104


@dataclass(frozen=True)
class Address:
    """An address to listen at: the host as given, as a number, and the port."""

    host: str
    number: str
    port: int

    @property
    def url(self) -> str:
        """Return what to type in a browser on this machine."""
        host = "localhost" if self.host in ANYWHERE else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def is_public(self) -> bool:
        """Tell whether other machines can reach it."""
        return not (self.number == "::1" or self.number.startswith("127."))

    def names(self) -> list[str]:
        """Return the names that a browser may use for it."""
        if self.host not in ANYWHERE:
            return [self.host]
        name = socket.gethostname()
        found = {name, f"{name}.local", socket.getfqdn()}
        for addresses in psutil.net_if_addrs().values():
            for address in addresses:
                if address.family == socket.AF_INET:
                    found.add(address.address)
                elif address.family == socket.AF_INET6 and "%" not in address.address:
                    found.add(f"[{address.address}]")
        return sorted(found)


def choose(host: str, port: str) -> Address:
    """Return the address if it can be listened at; port 0 becomes a free one.

    Raises CannotStart with what to do instead.
    """
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise CannotStart(f"PORT={port} is not a port: choose a number from 1 to 65535.")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        family, kind, protocol, _, where = found
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(where)
            trial.listen()
            number, free = trial.getsockname()[:2]
    except OSError as error:
        raise CannotStart(_explain(error, host, int(port))) from error
    return Address(host, str(number), int(free))


def _explain(error: OSError, host: str, port: int) -> str:
    other = port + 1 if 1024 <= port < 65535 else 8001
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} is in use{_user_of(port)}: stop that, "
            f"or choose another with `make run PORT={other}`."
        )
    if error.errno == errno.EACCES:
        return (
            f"Port {port} is only for the system: choose one above 1023, "
            f"such as `make run PORT={other}`."
        )
    return f"HOST={host} is not an address of this machine ({error}): leave HOST out."


def _user_of(port: int) -> str:
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            address = connection.laddr
            if connection.status == psutil.CONN_LISTEN and address and address.port == port:
                if connection.pid is None:
                    break
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    return ""
