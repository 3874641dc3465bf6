"""What the tests of tools share: calling a tool as a policy does, and the real sandboxes."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.tools.sandbox.bubblewrap import Bubblewrap
from agents.tools.sandbox.choice import first_proved
from agents.tools.sandbox.monty import MontySandbox
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit


class Seen(NamedTuple):
    """What a call showed while it ran, and what it left."""

    deltas: list[str]
    observation: Observation


@pytest.fixture
def observe() -> Callable[..., Seen]:
    """Call a tool through a toolkit: `observe(tool, {"x": 1})`, with a control if it matters."""

    def observe(
        tool: Tool, inputs: dict[str, Any] | None = None, control: Control | None = None
    ) -> Seen:
        call = ToolCall(tool=tool.name, inputs=inputs or {})
        events = Toolkit([tool]).call(call, control or Control())
        deltas = []
        while True:
            try:
                deltas.append(next(events).text)
            except StopIteration as end:
                return Seen(deltas, end.value)

    return observe


@pytest.fixture(scope="session")
def bubblewrap() -> Bubblewrap:
    """Return the real sandbox; where it cannot work, the tests say so rather than pass over it."""
    found = first_proved(Bubblewrap.candidates())
    assert isinstance(found.sandbox, Bubblewrap), f"install bubblewrap to test it: {found.reason}"
    return found.sandbox


@pytest.fixture
def inmates() -> Callable[[], list[psutil.Process]]:
    """List the processes of sandboxes that run now; one that waits to be reaped does not."""

    def inmates() -> list[psutil.Process]:
        children = psutil.Process().children(recursive=True)
        return [child for child in children if _is_sandbox(child)]

    return inmates


def _is_sandbox(process: psutil.Process) -> bool:
    try:
        return process.name() == "bwrap" and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="session")
def monty() -> MontySandbox:
    """Return the fallback."""
    return MontySandbox()


Respond = Callable[["Asked"], tuple[int, dict[str, str], bytes]]


class Asked(NamedTuple):
    """A request that a site was sent."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]


class Site:
    """A real web server on this machine; `log` holds what it was asked."""

    def __init__(self) -> None:
        self.log: list[Asked] = []
        self.pages: dict[str, Respond] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.place = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.place}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def says(
        self,
        path: str,
        body: str | bytes,
        kind: str = "text/html; charset=utf-8",
        status: int = 200,
    ) -> str:
        """Answer a path with this; return its address."""
        content = body.encode() if isinstance(body, str) else body
        self.pages[path] = lambda _: (status, {"Content-Type": kind}, content)
        return self.url + path

    def sends_to(self, path: str, location: str, status: int = 302) -> str:
        """Redirect a path; return its address."""
        self.pages[path] = lambda _: (status, {"Location": location}, b"moved")
        return self.url + path

    def answers(self, path: str, respond: Respond) -> str:
        """Answer a path as `respond` says; return its address."""
        self.pages[path] = respond
        return self.url + path

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(asked.query).items()}
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Asked(asked.path, query, headers)
                site.log.append(request)
                missing: Respond = lambda _: (404, {}, b"nothing here")  # noqa: E731
                status, sent, body = site.pages.get(asked.path, missing)(request)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **sent}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    """Run a web server for one test."""
    site = Site()
    yield site
    site.close()


@pytest.fixture
def other_site() -> Iterator[Site]:
    """Run a second web server, to be led astray to."""
    site = Site()
    yield site
    site.close()
