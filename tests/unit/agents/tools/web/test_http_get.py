"""A page is read as text, within bounds of size, time and reach."""

import gzip
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.control import Control
from agents.errors import Stopped, ToolFailed
from agents.tools.spec import Tool
from agents.tools.web.address import Reach, reach_of
from agents.tools.web.fetch import MAX_BYTES, fetch
from agents.tools.web.http_get import http_get_tool, part

PAGE = """<!doctype html><html><head><title>A  page</title><style>p{}</style></head><body>
<nav><a href="/a?b=1">Next</a> <a href="#top">Top</a> <a href="javascript:x()">Script</a></nav>
<h1>Héading</h1><p>First <b>bold</b>
words.<br>New line.</p><script>alert("no")</script><div hidden>secret</div>
<ul><li>one</li><li>two</li></ul><table><tr><th>k</th><td>v</td></tr></table>
<pre>a
  b</pre><!-- unseen --><img src="x.png" alt="A cat"></body></html>"""


@pytest.fixture
def http_get(site: Any) -> Tool:
    return http_get_tool(reach_of([site.place]))


def test_a_page_is_told_as_text(site: Any, http_get: Tool, observe: Callable[..., Any]) -> None:
    text = observe(http_get, {"url": site.says("/page", PAGE)}).observation.text

    assert text.startswith(f"{site.url}/page\n\nA page\n\n")
    assert f"[Next]({site.url}/a?b=1) Top Script" in text
    assert "# Héading\n\nFirst bold words.\nNew line." in text
    assert "- one" in text
    assert "| k | v" in text
    assert "[picture: A cat]" in text
    for unseen in ("alert", "secret", "unseen", "p{}"):
        assert unseen not in text


def test_the_page_is_asked_for_by_an_honest_name(
    site: Any, http_get: Tool, observe: Callable[..., Any]
) -> None:
    observe(http_get, {"url": site.says("/page", PAGE)})

    assert site.log[0].headers["user-agent"].startswith("Turnstone/")
    assert site.log[0].headers["host"] == site.place


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        ("naïve".encode("latin-1"), "text/plain; charset=latin-1", "naïve"),
        ("naïve".encode(), 'text/plain; charset="no-such-charset"', "naïve"),
        (b"x" * 10, "text/plain; charset=punycode", "x" * 10),
        (b"x" * 10, "text/plain; charset=hex", "x" * 10),
        (b"\xff\xfe\x00", "text/plain", "\ufffd\ufffd\ufffd"),
        ("<p>naïve".encode("latin-1"), "text/html; charset=iso-8859-1", "naïve"),
        (b"<feed><title>T</title></feed>", "application/atom+xml", "<feed>"),
        (b"", "text/html", "The page holds no text."),
        (b"<html></html>", "text/html", "The page holds no text."),
    ],
)
def test_text_of_any_kind_is_read(
    site: Any, http_get: Tool, observe: Callable[..., Any], body: bytes, kind: str, expected: str
) -> None:
    seen = observe(http_get, {"url": site.says("/text", body, kind)})

    assert seen.observation.error is None
    assert expected in seen.observation.text


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/octet-stream"])
def test_what_is_no_text_is_said_to_be_none(
    site: Any, http_get: Tool, observe: Callable[..., Any], kind: str
) -> None:
    seen = observe(http_get, {"url": site.says("/file", b"\x89PNG", kind)})

    assert (seen.observation.error, kind in seen.observation.text) == ("ToolFailed", True)


def test_an_error_of_the_server_is_a_failure_with_its_words(
    site: Any, http_get: Tool, observe: Callable[..., Any]
) -> None:
    seen = observe(http_get, {"url": site.says("/gone", "<p>It was moved away", status=410)})

    assert seen.observation.error == "ToolFailed"
    assert seen.observation.text == "The server answered 410. It was moved away"


def test_a_long_page_comes_in_parts() -> None:
    text = "".join(f"{number:06}" for number in range(10_000))

    first = part(text, 0)

    assert first.startswith(text[:20_000])
    assert "call again with start=20000" in first
    assert part(text, 40_000) == text[40_000:]
    with pytest.raises(ToolFailed, match="ends at character 60,000"):
        part(text, 60_000)


def test_a_huge_page_is_cut(site: Any) -> None:
    url = site.says("/huge", b"x" * (MAX_BYTES + 100_000), "text/plain")

    page = fetch(url, reach_of([site.place]), Control())

    assert (len(page.body), page.is_cut) == (MAX_BYTES, True)


def test_a_compressed_bomb_is_cut(site: Any) -> None:
    bomb = gzip.compress(b"\0" * 100_000_000)
    url = site.answers("/bomb", lambda _: (200, {"Content-Encoding": "gzip"}, bomb))

    page = fetch(url, reach_of([site.place]), Control())

    assert (len(page.body), page.is_cut) == (MAX_BYTES, True)


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"no gzip"), ("br", b"?"), ("zstd", b"?")])
def test_a_compression_that_cannot_be_undone_is_a_failure(
    site: Any, encoding: str, body: bytes
) -> None:
    url = site.answers("/odd", lambda _: (200, {"Content-Encoding": encoding}, body))

    with pytest.raises(ToolFailed, match="compression"):
        fetch(url, reach_of([site.place]), Control())


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compressed_page_is_read(site: Any, encoding: str) -> None:
    import zlib

    packed = gzip.compress(b"hello") if encoding == "gzip" else zlib.compress(b"hello")
    url = site.answers("/packed", lambda _: (200, {"Content-Encoding": encoding}, packed))

    assert fetch(url, reach_of([site.place]), Control()).body == b"hello"


def test_deep_hostile_html_is_read_without_harm(
    site: Any, http_get: Tool, observe: Callable[..., Any]
) -> None:
    body = "<div><a href=x>" * 100_000 + "deep" + "<table>" * 1000 + "&" * 10_000 + "\0\ud7ff"

    seen = observe(http_get, {"url": site.says("/deep", body)})

    assert seen.observation.error is None


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(site: Any, status: int) -> None:
    site.says("/there", "<p>here it is")
    url = site.sends_to("/here", "/there?x=1", status)

    page = fetch(url, reach_of([site.place]), Control())

    assert (str(page.url), page.body) == (f"{site.url}/there?x=1", b"<p>here it is")


def test_a_redirect_out_of_reach_is_refused_and_not_followed(site: Any, other_site: Any) -> None:
    other_site.says("/secret", "the metadata")
    url = site.sends_to("/here", f"{other_site.url}/secret")

    with pytest.raises(ToolFailed):
        fetch(url, reach_of([site.place]), Control())
    assert other_site.log == []


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://u:p@example.org/", "http://["])
def test_a_redirect_to_no_web_address_is_refused(site: Any, location: str) -> None:
    with pytest.raises(ToolFailed):
        fetch(site.sends_to("/here", location), reach_of([site.place]), Control())


def test_redirects_in_circles_end(site: Any) -> None:
    url = site.sends_to("/round", "/round")

    with pytest.raises(ToolFailed, match="in circles"):
        fetch(url, reach_of([site.place]), Control())
    assert len(site.log) == 6


def test_this_machine_is_out_of_reach(site: Any, observe: Callable[..., Any]) -> None:
    seen = observe(http_get_tool(Reach()), {"url": site.says("/page", PAGE)})

    assert seen.observation.error == "ToolFailed"
    assert site.log == []


class Rebound(Reach):
    """A name that resolves to this machine whatever it resolved to before."""

    def addresses(self, host: str, port: int) -> list[str]:
        assert host == "rebound.example"
        return ["127.0.0.1"]


def test_the_connection_is_made_to_the_address_that_was_checked(site: Any) -> None:
    site.says("/page", "<p>found")
    port = site.place.rpartition(":")[2]

    page = fetch(f"http://rebound.example:{port}/page", Rebound(), Control())

    assert page.body == b"<p>found"
    assert site.log[0].headers["host"] == f"rebound.example:{port}"


@pytest.fixture
def silent_server() -> Iterator[tuple[socket.socket, threading.Event]]:
    """Accept connections, say nothing, and tell when the other side hangs up."""
    gone = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            connection, _ = listener.accept()
            while connection.recv(4096):
                pass
        except OSError:
            pass
        gone.set()

    threading.Thread(target=serve, daemon=True).start()
    yield listener, gone
    listener.close()


def test_a_stop_leaves_a_silent_server_and_hangs_up(
    silent_server: tuple[socket.socket, threading.Event],
) -> None:
    listener, gone = silent_server
    place = f"127.0.0.1:{listener.getsockname()[1]}"
    control = Control()
    threading.Timer(0.3, control.stop).start()

    with pytest.raises(Stopped):
        fetch(f"http://{place}/", reach_of([place]), control)
    assert gone.wait(20)


def test_a_server_of_another_name_is_not_trusted(tmp_path: Any) -> None:
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = lambda _, name, __: names.append(name)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        try:
            context.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with pytest.raises(ToolFailed, match="could not be read"):
        fetch(f"https://rebound.example:{listener.getsockname()[1]}/", Rebound(), Control())

    thread.join(20)
    listener.close()
    assert names == ["rebound.example"]
