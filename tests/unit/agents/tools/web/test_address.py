"""Only public web servers are within a tool's reach, and what the administrator allows."""

import pytest

from agents.errors import ToolFailed
from agents.tools.web.address import Reach, reach_of, web_url


@pytest.mark.parametrize(
    "text", ["https://example.org", " http://example.org:8080/a?b=c#d ", "https://bücher.example/"]
)
def test_a_web_address_is_one(text: str) -> None:
    assert web_url(text).scheme in ("http", "https")


@pytest.mark.parametrize(
    "text",
    [
        *("", "not a url", "example.org", "//example.org", "http://", "http:///path", "https://?q"),
        *("file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "ftp://example.org/f"),
        *("gopher://example.org", "ssh://server", "tel:+123", "mailto:a@example.org"),
        *("http://user:password@example.org/", "http://user@example.org/"),
        *("http://exa mple.org", "http://example.org\\@evil.example", "http://a\x00b.example"),
        *("http://example.org/\r\nX: y", "http://[::1", "http://example.org:99999999/"),
        "http://" + "a" * 5000,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ToolFailed):
        web_url(text)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.8.9.1",
            "localhost",
            "0.0.0.0",  # noqa: S104
            "10.0.0.1",
            "172.16.5.5",
            "192.168.1.1",
        ),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *(
            "224.0.0.1",
            "239.255.255.250",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
        ),
        *("2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1."),
        *("::1", "[::1]", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::"),
        *("::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "fec0::1"),
        *("64:ff9b:1::7f00:1", "64:ff9b:1::808:808", "100::1", "5f00::1", "3fff::1", "4000::1"),
        *("2606:2800:21f:1::5efe:7f00:1", "2606:2800:21f:1:200:5efe:a9fe:a9fe"),
        *("2001:10::1", "2001:2::1", "192.88.99.1", "203.0.113.9", "198.51.100.9"),
    ],
)
def test_an_address_that_is_not_public_is_refused(host: str) -> None:
    with pytest.raises(ToolFailed):
        Reach().addresses(host, 80)


@pytest.mark.parametrize(
    "host",
    [
        *("93.184.215.14", "2606:2800:21f::1", "64:ff9b::808:808", "::ffff:808:808"),
        *("2002:808:808::1", "2606:2800:21f:1:0:5efe:808:808", "2a00:1450:4001::200e"),
    ],
)
def test_a_public_address_is_within_reach(host: str) -> None:
    assert Reach().addresses(host, 443) == [host]


@pytest.mark.parametrize("port", [22, 25, 6379, 5432, 8080, 0])
def test_another_port_is_refused(port: int) -> None:
    with pytest.raises(ToolFailed, match="Port"):
        Reach().addresses("93.184.215.14", port)


def test_a_name_that_does_not_resolve_is_told() -> None:
    with pytest.raises(ToolFailed, match="no server named"):
        Reach().addresses("a" * 70 + ".invalid", 80)


def test_the_administrator_can_allow_one_port_of_a_host() -> None:
    reach = reach_of([" 127.0.0.1:8080 ", ""])

    assert reach.addresses("127.0.0.1", 8080) == ["127.0.0.1"]
    with pytest.raises(ToolFailed):
        reach.addresses("127.0.0.1", 8081)
    with pytest.raises(ToolFailed):
        reach.addresses("127.0.0.1", 80)


def test_the_administrator_can_allow_a_host_on_the_usual_ports() -> None:
    reach = reach_of(["LOCALHOST"])

    assert "127.0.0.1" in reach.addresses("localhost", 80)
    with pytest.raises(ToolFailed):
        reach.addresses("localhost", 6379)


def test_a_server_that_the_administrator_named_is_within_reach() -> None:
    reach = Reach().also("http://127.0.0.1:8888/search")

    assert reach.addresses("127.0.0.1", 8888) == ["127.0.0.1"]
