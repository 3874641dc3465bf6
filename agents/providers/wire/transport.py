"""The way to a model server: pooled connections whose every wait a halted run leaves at once.

A thread that blocks in `recv` is not woken when another thread closes the response (measured: still
blocked after 4 s, plain and TLS). So nothing here blocks for longer than a slice of a second:
reads are made in slices between which the run's control is asked, and what cannot be sliced (look
up, connect, TLS handshake, a large write) happens in a thread of its own that may be left behind.
No watcher, no private parts of the HTTP library: `httpcore2` lets its network backend be given.
"""

import math
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache
from typing import Any, Self, TypeVar

import httpcore2
import httpx2

from agents.control import Control
from agents.errors import AgentError, ConfigurationError
from agents.providers.wire.pace import PACE
from agents.waiting import result_of, sliced

SLICE = 0.2
"""Seconds between two looks at the run's control; a stop takes no longer than this."""
CONNECT_SECONDS = 10.0
LARGE_WRITE = 64_000
"""Bytes; less than this fits the kernel's buffer of a connection that waits for a request."""
MIN_CHUNK = 64
"""Bytes; less is no chunk of a reply, but what counting them may be wrong by."""
ERROR_BYTES = 64_000
ERROR_SECONDS = 2.0

T = TypeVar("T")


class _Watch(threading.local):
    control: Control | None = None
    patience: float = math.inf
    gathers: bool = False
    unread: int = 0


_watch = _Watch()


class watched:
    """Let `control` halt what this thread reads and writes meanwhile.

    `patience` is how many seconds one read may bring nothing; then httpcore2.ReadTimeout is raised.
    With `gathers` reads are made at the pace of the process.
    """

    def __init__(self, control: Control, patience: float, *, gathers: bool = False) -> None:
        self._control = control
        self._patience = patience
        self._gathers = gathers

    def __enter__(self) -> Self:
        _watch.control, _watch.patience = self._control, self._patience
        _watch.gathers, _watch.unread = self._gathers, 0
        return self

    def __exit__(self, *failure: object) -> None:
        _watch.control, _watch.patience, _watch.gathers = None, math.inf, False

    def has_more(self, piece: bytes) -> bool:
        """Tell whether, behind this piece of a body, more was read meanwhile that is still to come.

        A piece is taken for a chunk (RFC 9112, 7.1) and its bytes are counted. Where a server
        writes more about a chunk than it needs, too much may be expected by a few bytes each.
        """
        _watch.unread -= len(piece) + len(f"{len(piece):x}\r\n\r\n")
        return _watch.unread > MIN_CHUNK


class Transport(httpx2.BaseTransport):
    """A pool of connections to one server, through the proxy of the environment unless local.

    It raises the errors of httpcore2 and whatever `Control.check` raises. The body of an answer
    that is an error is read to a bounded length before it is returned. Of the headers only those
    in `sent_headers` are sent, where it is given.
    """

    def __init__(
        self,
        base_url: str,
        ssl_context: ssl.SSLContext | None = None,
        *,
        sent_headers: frozenset[str] | None = None,
    ) -> None:
        self._sent_headers = sent_headers
        context = ssl_context or _ssl_context()
        backend = _Backend()
        proxy = _proxy(httpx2.URL(base_url))
        # No limit on connections: worker threads are limited, and waiting for one cannot be halted.
        self._pool: httpcore2.ConnectionPool = (
            httpcore2.ConnectionPool(
                ssl_context=context,
                max_connections=None,
                max_keepalive_connections=128,
                keepalive_expiry=30.0,
                network_backend=backend,
            )
            if proxy is None
            else httpcore2.HTTPProxy(
                proxy_url=str(proxy.url),
                proxy_auth=proxy.raw_auth,
                ssl_context=context,
                max_connections=None,
                max_keepalive_connections=128,
                keepalive_expiry=30.0,
                network_backend=backend,
            )
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request and return the response, its body still to be read unless an error."""
        assert isinstance(request.stream, httpx2.SyncByteStream)  # noqa: S101
        if self._sent_headers is not None:
            for name in set(request.headers) - self._sent_headers:
                del request.headers[name]
        response = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        body = _Body(response)
        if response.status < 300:
            return httpx2.Response(response.status, headers=response.headers, stream=body)
        # Plain text was asked for; what is compressed all the same need not be read to be refused.
        plain = [(n, v) for n, v in response.headers if n.lower() != b"content-encoding"]
        return httpx2.Response(
            response.status, headers=plain, stream=httpx2.ByteStream(_beginning(body))
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


def _beginning(body: _Body) -> bytes:
    """Read what an error says, as far as it is short, and let go of the connection."""
    deadline = time.monotonic() + ERROR_SECONDS
    _watch.patience = min(_watch.patience, ERROR_SECONDS)
    read = b""
    try:
        for piece in body:
            read += piece
            if len(read) > ERROR_BYTES or time.monotonic() > deadline:
                break
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException):
        pass  # The status says enough.
    finally:
        body.close()
    return read[:ERROR_BYTES]


class _Backend(httpcore2.NetworkBackend):
    """Open connections that heed the control of the thread that uses them."""

    def __init__(self) -> None:
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        return _Stream(
            _aside(
                lambda: self._sockets.connect_tcp(
                    host, port, CONNECT_SECONDS, local_address, socket_options
                )
            )
        )


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._read_at = 0.0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        control, patience = _watch.control, _watch.patience
        if control is None:
            return self._stream.read(max_bytes, timeout)
        if _watch.gathers:
            PACE.gather(self._read_at, control)
        read = sliced(
            # A read that timed out has taken nothing, over TLS too: it may be made again.
            lambda seconds: self._stream.read(max_bytes, seconds),
            control,
            httpcore2.ReadTimeout,
            seconds=patience,
            each=SLICE,
        )
        self._read_at = time.monotonic()
        _watch.unread = len(read)
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        timeout = min(_watch.patience, 3600.0)
        if len(buffer) < LARGE_WRITE:
            self._stream.write(buffer, timeout)
        else:
            _aside(lambda: self._stream.write(buffer, timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        return _Stream(
            _aside(lambda: self._stream.start_tls(ssl_context, server_hostname, CONNECT_SECONDS))
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _aside(work: Callable[[], T]) -> T:
    """Return what `work` returns; leave it behind, to be closed when it is done, on a halt."""
    control = _watch.control
    if control is None:
        return work()
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    context = copy_context()
    threading.Thread(target=context.run, args=(run,), name="model-connection", daemon=True).start()
    try:
        return result_of(done, control, each=SLICE)
    except AgentError:
        done.add_done_callback(_close_late)
        raise


def _close_late(done: Future[Any]) -> None:
    if done.exception() is None and isinstance(stream := done.result(), httpcore2.NetworkStream):
        stream.close()


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def _proxy(url: httpx2.URL) -> httpx2.Proxy | None:
    """Return the environment's proxy for this server; one on this machine is called directly."""
    if url.host in ("localhost", "::1") or url.host.startswith("127."):
        return None
    found = urllib.request.getproxies()
    proxy = found.get(url.scheme) or found.get("all")
    if proxy is None or urllib.request.proxy_bypass(url.host):
        return None
    if not proxy.startswith(("http://", "https://")):
        if "://" in proxy:
            raise ConfigurationError("The proxy to the model server must be an http:// address.")
        proxy = f"http://{proxy}"
    return httpx2.Proxy(proxy)
