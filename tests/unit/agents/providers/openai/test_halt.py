"""A halt ends a call at once, wherever it waits, and leaves no connection behind."""

import itertools
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from agents.control import Control
from agents.errors import AgentError, Interrupted, ProviderSlow, Stopped
from agents.providers.wire.transport import Transport, watched
from tests.unit.agents.providers.calls import Ask, ProviderOf
from tests.unit.agents.providers.wire import Wire

PATIENT = 300.0


class Caller(threading.Thread):
    """A call in a thread of its own, with what it ended in."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self.failure: AgentError | None = None
        self.start()

    def run(self) -> None:
        try:
            self._call()
        except AgentError as failure:
            self.failure = failure

    def ended_in(self) -> AgentError | None:
        self.join(timeout=10)
        assert not self.is_alive(), "The call goes on after the halt."
        return self.failure


@pytest.fixture
def control() -> Control:
    return Control(PATIENT, idle_seconds=PATIENT)


def test_a_stop_ends_a_server_that_is_silent_before_the_first_word(
    ask: Ask, wire: Wire, control: Control
) -> None:
    wire.answers(wire.HOLD)
    caller = Caller(lambda: ask(wire.base_url, control=control))
    assert wire.asked.acquire(timeout=10)

    control.stop()

    assert isinstance(caller.ended_in(), Stopped)
    assert wire.gone.wait(10)


def test_a_stop_ends_a_server_that_is_silent_in_the_middle(
    ask: Ask, wire: Wire, control: Control
) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.HOLD)
    caller = Caller(lambda: ask(wire.base_url, control=control))
    assert wire.asked.acquire(timeout=10)

    control.stop()

    assert isinstance(caller.ended_in(), Stopped)
    assert wire.gone.wait(10)


def test_a_reply_that_takes_too_long_is_hung_up_on(ask: Ask, wire: Wire) -> None:
    control = Control(PATIENT, idle_seconds=PATIENT, call_seconds=0.5)
    wire.answers(wire.STREAM, itertools.repeat(wire.part(b": still here\n\n")))

    def call() -> None:
        with control.calling():
            ask(wire.base_url, control=control)

    assert isinstance(Caller(call).ended_in(), ProviderSlow)
    assert wire.gone.wait(10)


def test_a_stop_ends_a_stream_that_never_stops(ask: Ask, wire: Wire, control: Control) -> None:
    wire.answers(wire.STREAM, itertools.repeat(wire.part(b": still here\n\n")))
    caller = Caller(lambda: ask(wire.base_url, control=control))
    assert wire.asked.acquire(timeout=10)

    control.interrupt()

    assert isinstance(caller.ended_in(), Interrupted)
    assert wire.gone.wait(10)


def test_a_stop_ends_the_wait_for_a_busy_server(ask: Ask, wire: Wire, control: Control) -> None:
    wire.answers(wire.page("429 Too Many Requests", "later", "Retry-After: 100"))
    caller = Caller(lambda: ask(wire.base_url, control=control))
    assert wire.asked.acquire(timeout=10)

    control.stop()

    assert isinstance(caller.ended_in(), Stopped)


def test_a_stop_ends_a_request_that_the_server_does_not_take(
    ask: Ask, deaf_server: "Deaf", control: Control
) -> None:
    caller = Caller(lambda: ask(deaf_server.base_url, "x" * 20_000_000, control=control))
    deaf_server.accept()

    control.stop()

    assert isinstance(caller.ended_in(), Stopped)


def test_a_stop_ends_a_tls_handshake_that_nobody_answers(
    ask: Ask, deaf_server: "Deaf", control: Control
) -> None:
    secure = deaf_server.base_url.replace("http:", "https:")
    caller = Caller(lambda: ask(secure, control=control))
    deaf_server.accept()

    control.stop()

    assert isinstance(caller.ended_in(), Stopped)


def test_a_stop_ends_a_silent_server_behind_tls(
    tls_wire: Wire, certificate: Path, control: Control
) -> None:
    tls_wire.answers(tls_wire.STREAM, tls_wire.says("so far "), tls_wire.HOLD)
    context = ssl.create_default_context(cafile=str(certificate))
    read: list[bytes] = []

    def call() -> None:
        client = httpx2.Client(transport=Transport(tls_wire.base_url, context))
        with watched(control, PATIENT), client.stream("POST", tls_wire.base_url) as response:
            read.extend(response.iter_bytes())

    caller = Caller(call)
    assert tls_wire.asked.acquire(timeout=10)

    control.stop()

    assert isinstance(caller.ended_in(), Stopped)
    assert tls_wire.gone.wait(10)


def test_after_a_stop_the_server_can_be_called_again(
    ask: Ask, wire: Wire, control: Control
) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.HOLD)
    wire.answers(wire.STREAM, wire.says("a new reply"), wire.ends())
    caller = Caller(lambda: ask(wire.base_url, control=control))
    assert wire.asked.acquire(timeout=10)
    control.stop()
    caller.ended_in()

    reply = ask(wire.base_url)

    assert reply.answer == "a new reply"
    assert wire.connections == 2


def test_a_reply_that_nobody_reads_on_lets_go_of_its_connection(
    provider_of: ProviderOf, wire: Wire, control: Control
) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.HOLD)
    items = provider_of(wire.base_url).stream('{"messages": []}', control)
    next(items)

    items.close()

    assert wire.gone.wait(10)


def test_a_run_that_is_already_stopped_calls_nobody(ask: Ask, wire: Wire, control: Control) -> None:
    wire.answers(wire.STREAM, wire.says("so far "), wire.ends())
    control.stop()

    with pytest.raises(Stopped):
        ask(wire.base_url, control=control)

    assert wire.requests == []


class Deaf:
    """A server that accepts connections and then neither reads nor writes."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(10)
        self._accepted: list[socket.socket] = []
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def accept(self) -> None:
        self._accepted.append(self._listener.accept()[0])

    def close(self) -> None:
        for connection in (self._listener, *self._accepted):
            connection.close()


@pytest.fixture
def deaf_server() -> Iterator[Deaf]:
    server = Deaf()
    yield server
    server.close()
