"""The address to listen at."""

import os
import socket

import pytest

from project.errors import CannotStart
from project.local import ports


def test_a_free_port_is_taken_as_it_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]

    address = ports.choose("127.0.0.1", str(free))

    assert address.url == f"http://127.0.0.1:{free}"
    assert not address.is_public


def test_port_0_becomes_a_free_one() -> None:
    assert ports.choose("127.0.0.1", "0").port > 0


def test_a_port_in_use_names_who_has_it_and_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(CannotStart) as refusal:
            ports.choose("127.0.0.1", str(port))

    assert f"Port {port} is in use by" in str(refusal.value)
    assert f"(process {os.getpid()})" in str(refusal.value)
    assert "make run PORT=" in str(refusal.value)


@pytest.mark.parametrize("port", ["abc", "", "-1", "65536", "\uff18\uff10", "80 80"])
def test_what_is_no_port_is_refused(port: str) -> None:
    with pytest.raises(CannotStart, match="is not a port: choose a number"):
        ports.choose("127.0.0.1", port)


def test_a_foreign_host_is_refused() -> None:
    with pytest.raises(CannotStart, match=r"HOST=192\.0\.2\.1 is not an address of this machine"):
        ports.choose("192.0.2.1", "0")


def test_an_ipv6_address_is_written_in_brackets() -> None:
    assert ports.Address("::1", "::1", 8000).url == "http://[::1]:8000"
    assert not ports.Address("::1", "::1", 8000).is_public


def test_listening_everywhere_is_public_and_allows_the_names_of_the_machine() -> None:
    address = ports.Address(ports.ANYWHERE[0], ports.ANYWHERE[0], 8000)

    assert address.is_public
    assert address.url == "http://localhost:8000"
    assert socket.gethostname() in address.names()
    assert "*" not in address.names()
