"""Two real servers to speak to: a third party's mock of every vendor, and one that breaks rules."""

import json
import re
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import pytest
from pydantic import SecretStr

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.model.call import Call
from agents.providers.base import Finish, ModelRequest, Token
from agents.providers.choice import Credentials, RemoteName
from agents.providers.dialects import PROVIDERS
from agents.providers.wire.remote import RemoteProvider
from tests.certificates import write_self_signed

KEY = "sk-a-key-that-nobody-may-see"
MOCK = Path(__file__).parents[4] / "node_modules/@copilotkit/aimock/dist/cli.js"


@dataclass(frozen=True)
class Reply:
    """What came of one call: `given` was to be posted, `posted` was in the end."""

    tokens: list[Token]
    finish: Finish
    given: str
    posted: str

    @property
    def answer(self) -> str:
        return "".join(token.text for token in self.tokens if token.kind == "answer")

    @property
    def reasoning(self) -> str:
        return "".join(token.text for token in self.tokens if token.kind == "reasoning")


class ProviderOf(Protocol):
    """Make the provider of one server."""

    def __call__(
        self, base_url: str, model: str = ..., key: str = ..., provider: RemoteName = ...
    ) -> RemoteProvider: ...


class Ask(Protocol):
    """Ask a model server one question, or with these messages, as the engine does."""

    def __call__(
        self,
        base_url: str,
        question: str = ...,
        *,
        messages: Sequence[Message] = ...,
        model: str = ...,
        provider: RemoteName = ...,
        control: Control | None = ...,
        **request: Any,
    ) -> Reply: ...


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture
def provider_of() -> ProviderOf:
    def provider_of(
        base_url: str, model: str = "m", key: str = KEY, provider: RemoteName = "openai"
    ) -> RemoteProvider:
        return PROVIDERS[provider](
            Credentials(
                provider=provider,
                base_url=base_url,
                api_key=SecretStr(key),
                model=model,
                found="a test",
            )
        )

    return provider_of


@pytest.fixture
def ask(provider_of: ProviderOf) -> Ask:
    def ask(
        base_url: str,
        question: str = "hello",
        *,
        messages: Sequence[Message] = (),
        model: str = "m",
        provider: RemoteName = "openai",
        control: Control | None = None,
        **request: Any,
    ) -> Reply:
        asked = provider_of(base_url, model, provider=provider)
        messages = messages or [Message(role=Role.USER, content=question)]
        wanted = ModelRequest(purpose=Purpose.THINK, messages=messages, **request)
        given = asked.body(wanted)
        call = Call(asked, control or Control(60, idle_seconds=30), wanted)
        tokens = list(attempts(call))
        if call.error is not None:
            raise call.error
        record = call.record()
        finish = Finish(stop_reason=record.stop_reason, usage=record.usage)
        return Reply(tokens, finish, given, record.request)

    return ask


def attempts(call: Call) -> Iterator[Token]:
    """Make a call as often as the engine does."""
    while (yield from call.attempt()):
        pass


class Mock:
    """The mock's control address: what it answers, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.base_url = f"{url}/v1"
        self._control_url = f"{url}/__aimock"

    def answers(self, *fixtures: dict[str, Any]) -> None:
        self._call("POST", "fixtures", {"fixtures": list(fixtures)})

    def journal(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self._call("GET", "journal")
        return entries

    def forget(self) -> None:
        self._call("POST", "reset", {})

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        call = urllib.request.Request(  # noqa: S310
            f"{self._control_url}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(call) as answer:
            return json.loads(answer.read() or b"null")


@pytest.fixture(scope="session")
def mock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mock]:
    node = shutil.which("node")
    assert node, "The tests need Node 20.15 or newer on the PATH."
    assert MOCK.is_file(), "The tests need the mock model server: run `npm ci` first."
    nothing = tmp_path_factory.mktemp("mock") / "fixtures.json"
    nothing.write_text('{"fixtures": []}')
    process = subprocess.Popen(
        [node, str(MOCK), "-p", "0", "-f", str(nothing), "-c", "5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"listening on (http://\S+)", line):
                yield Mock(found[1])
                return
        pytest.fail("The mock model server did not start: " + "".join(said))
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture
def mock(mock_server: Mock) -> Mock:
    mock_server.forget()
    return mock_server


class Then(Enum):
    """What a connection does besides sending bytes."""

    HOLD = "say nothing until the other side hangs up"
    CUT = "reset the connection"
    CLOSE = "close the connection in good order"


Step = bytes | Then | Iterator[bytes]


class Wire:
    """A server that answers the requests, in order, with exactly these bytes and faults.

    The last answer repeats. `asked` is released once per request; `gone` is set when the other
    side hangs up while it is held or sent to.
    """

    HOLD = Then.HOLD
    CUT = Then.CUT
    CLOSE = Then.CLOSE
    STREAM = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    OPEN_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    """A stream that ends with the connection."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._tls = tls
        self._answers: list[tuple[Step, ...]] = []
        self._lock = threading.Lock()
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.connections = 0
        self.asked = threading.Semaphore(0)
        self.gone = threading.Event()
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.base_url = f"{'https' if tls else 'http'}://{self.place}/v1"
        threading.Thread(target=self._listen, daemon=True).start()

    @staticmethod
    def part(content: bytes) -> bytes:
        """Frame bytes as one chunk of a stream."""
        return b"%x\r\n%s\r\n" % (len(content), content)

    @classmethod
    def event(cls, data: object) -> bytes:
        text = data if isinstance(data, str) else json.dumps(data)
        return cls.part(f"data: {text}\n\n".encode())

    @classmethod
    def says(cls, text: str) -> bytes:
        return cls.event({"choices": [{"index": 0, "delta": {"content": text}}]})

    @classmethod
    def ends(cls) -> bytes:
        """End a stream as the protocol wants it."""
        finish = cls.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        return finish + cls.event("[DONE]") + b"0\r\n\r\n"

    @staticmethod
    def page(status: str, body: str, *headers: str) -> bytes:
        """Write a whole answer with its length."""
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body.encode())}", *headers, "", body]
        return "\r\n".join(lines).encode()

    def answers(self, *steps: Step) -> None:
        self._answers.append(steps)

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            while self._answer(connection):
                pass
        except OSError:
            self.gone.set()
        finally:
            connection.close()

    def _answer(self, connection: socket.socket) -> bool:
        """Answer one request; tell whether the connection stays open for another."""
        request = _request(connection)
        if request is None:
            return False
        with self._lock:
            self.requests.append(request)
            steps = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        self.asked.release()
        for step in steps:
            if isinstance(step, Then):
                self._then(step, connection)
                return False
            for piece in (step,) if isinstance(step, bytes) else step:
                connection.sendall(piece)
        return True

    def _then(self, step: Then, connection: socket.socket) -> None:
        if step is Then.HOLD and not connection.recv(1):
            self.gone.set()
        if step is Then.CUT:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _request(connection: socket.socket) -> tuple[str, dict[str, Any]] | None:
    """Read one request: its head and what its body says."""
    read = b""
    while b"\r\n\r\n" not in read:
        piece = connection.recv(65536)
        if not piece:
            return None
        read += piece
    head, _, body = read.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    while length and len(body) < int(length[1]):
        body += connection.recv(65536)
    return head.decode("latin-1"), json.loads(body or b"{}")


@pytest.fixture
def wire() -> Iterator[Wire]:
    server = Wire()
    yield server
    server.close()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Write a certificate of 127.0.0.1 that nobody else has signed, with its key."""
    path = tmp_path / "certificate.pem"
    write_self_signed(path)
    return path


@pytest.fixture
def tls_wire(certificate: Path) -> Iterator[Wire]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Wire(context)
    yield server
    server.close()
