"""Fetch a page of the web within bounds of size, time and reach, whatever its server does."""

import functools
import json
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2

from agents.control import Control
from agents.errors import ToolFailed
from agents.tools.web.address import Reach, web_url
from agents.waiting import sliced

MAX_BYTES = 2_000_000
AGENT = "Turnstone/0.1 (a research assistant; reads pages at a person's request)"

_MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONNECT_SECONDS = 8.0
_SILENT_SECONDS = 15.0
"""Seconds between two looks at the control."""

_CHUNK = 65_536
_BROKEN = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError, OSError)


@dataclass(frozen=True)
class FetchedPage:
    """What a server sent: where it was found in the end, and the beginning of it if `is_cut`."""

    url: httpx2.URL
    status: int
    kind: str
    charset: str
    body: bytes
    is_cut: bool


def fetch(
    address: str,
    reach: Reach,
    control: Control,
    *,
    headers: Mapping[str, str] | None = None,
    most_bytes: int = MAX_BYTES,
) -> FetchedPage:
    """Return the page at an address, past its redirects; each of them is checked like the first.

    Raises ToolFailed when there is nothing to show, and Halted.
    """
    url = web_url(address)
    for _ in range(_MAX_REDIRECTS + 1):
        control.check()
        answer = _get(url, reach, control, headers or {}, most_bytes)
        if isinstance(answer, FetchedPage):
            return answer
        url = answer
    raise ToolFailed(f"{_shown(url)} sends one in circles: more than {_MAX_REDIRECTS} redirects.")


def fetch_json(base: str, query: Mapping[str, str], reach: Reach, control: Control) -> Any:
    """Return what a JSON interface at `base` answers to a query; raises ToolFailed, and Halted."""
    url = web_url(base).copy_merge_params(dict(query))
    page = fetch(str(url), reach.also(base), control, headers={"Accept": "application/json"})
    if page.status != 200:
        raise ToolFailed(f"{_shown(url)} answered {page.status}; try again later.")
    try:
        return json.loads(page.body)
    except (ValueError, RecursionError):
        raise ToolFailed(f"{_shown(url)} did not answer in JSON.") from None


def _get(
    url: httpx2.URL, reach: Reach, control: Control, headers: Mapping[str, str], most_bytes: int
) -> FetchedPage | httpx2.URL:
    """Return the page, or the address that it redirects to."""
    sent = {"User-Agent": AGENT, "Accept": "*/*", "Accept-Encoding": "gzip, deflate", **headers}
    try:
        with (
            httpcore2.ConnectionPool(
                ssl_context=_ssl_context(), network_backend=_Network(reach, control)
            ) as pool,
            pool.stream("GET", str(url), headers=list(sent.items())) as response,
        ):
            told = {name.lower(): value for name, value in response.headers}
            if response.status in _REDIRECTS and b"location" in told:
                return _next(url, told[b"location"])
            body, is_cut = _body(response.iter_stream(), told, most_bytes, control)
    except _BROKEN as error:
        kind = type(error).__name__
        raise ToolFailed(f"{_shown(url)} could not be read ({kind}).") from None
    kind, charset = _content_type(told.get(b"content-type", b"").decode("latin-1"))
    return FetchedPage(url, response.status, kind, charset, body, is_cut)


def _next(url: httpx2.URL, location: bytes) -> httpx2.URL:
    try:
        return web_url(str(url.join(location.decode("latin-1"))))
    except (httpx2.InvalidURL, ValueError):
        raise ToolFailed(f"{_shown(url)} redirects to what is no web address.") from None


def _body(
    chunks: Iterable[bytes], told: Mapping[bytes, bytes], most: int, control: Control
) -> tuple[bytes, bool]:
    """Return the decoded body up to `most` bytes, and whether there was more."""
    read = bytearray()
    for piece in _decoded(chunks, told.get(b"content-encoding", b"").strip().lower()):
        control.check()
        read += piece
        if len(read) > most:
            return bytes(read[:most]), True
    return bytes(read), False


def _decoded(chunks: Iterable[bytes], encoding: bytes) -> Iterator[bytes]:
    """Undo a compression step by step, so that a small bomb never grows large in memory."""
    if encoding in (b"", b"identity"):
        yield from chunks
        return
    if encoding not in (b"gzip", b"x-gzip", b"deflate"):
        raise ToolFailed("The page came in a compression that was not asked for.")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        for chunk in chunks:
            while chunk:
                yield inflate.decompress(chunk, _CHUNK)
                chunk = inflate.unconsumed_tail
    except zlib.error:
        raise ToolFailed("The page came broken: its compression cannot be undone.") from None


def _content_type(header: str) -> tuple[str, str]:
    kind, *parameters = [part.strip() for part in header.split(";")]
    named = (part.partition("=") for part in parameters)
    charset = next((value for name, _, value in named if name.strip().lower() == "charset"), "")
    return kind.lower(), charset.strip("\"' ")[:40]


def _shown(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.host[:200]}"


class _Network(httpcore2.NetworkBackend):
    """Connect to the addresses that the reach has checked, and to nothing else."""

    def __init__(self, reach: Reach, control: Control) -> None:
        self._reach = reach
        self._control = control
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        failure: Exception = ToolFailed(f"There is no server named {host[:200]}.")
        for address in self._reach.addresses(host, port)[:4]:
            self._control.check()
            try:
                stream = self._sockets.connect_tcp(address, port, _CONNECT_SECONDS)
            except _BROKEN as error:
                failure = error
            else:
                return _Stream(stream, self._control)
        raise failure


class _Stream(httpcore2.NetworkStream):
    """Read in slices between which the control is asked, so that no server can hold the tool."""

    def __init__(self, stream: httpcore2.NetworkStream, control: Control) -> None:
        self._stream = stream
        self._control = control

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return sliced(
            lambda seconds: self._stream.read(max_bytes, seconds),
            self._control,
            httpcore2.ReadTimeout,
            seconds=_SILENT_SECONDS,
        )

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _CONNECT_SECONDS)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, _CONNECT_SECONDS)
        return _Stream(secured, self._control)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()
