"""One model server: the connections that all its calls share, and one call to it."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit

import httpcore2
import httpx2
from pydantic import SecretStr

from agents.control import Control
from agents.errors import (
    AgentError,
    ConfigurationError,
    ProviderEndless,
    ProviderError,
    ProviderGarbled,
    ProviderSilent,
    ProviderTruncated,
    ProviderUnreachable,
)
from agents.providers.base import IsShown, ParameterRefused
from agents.providers.wire.faults import Faults
from agents.providers.wire.learning import Learning
from agents.providers.wire.pace import PACE
from agents.providers.wire.transport import Transport, watched

ENDING_SECONDS = 2.0
"""What a server gets after the text is complete, to count the tokens and close the stream."""
MAX_BYTES = 256_000_000
"""The bytes that one reply may have in all; each token brings some 250 besides its own."""
BEGINNING_BYTES = 2_000
"""How much of a reply is read as it comes while nothing of it is shown: some ten tokens."""
UNREACHABLE = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProxyError)
HEADERS = {
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "turnstone",
}


class Send(Protocol):
    """Post bytes to a path of the server and return the response, an error's as well."""

    @property
    def transport(self) -> Transport:
        """Return the connections to the server."""
        ...

    def __call__(self, path: str, content: bytes, /) -> httpx2.Response:
        """Post."""
        ...


Refused = Callable[[int, str, str], tuple[str, str] | None]
"""Read a refusal: its status, its words and what was posted.

Name the parameter it is about and give the body without it, None where it is about anything else.
"""


class Server:
    """Post to one server with one key; safe to share between threads.

    `unwanted` holds, by model, the parameters that the server has turned out not to take, `lengths`
    how many tokens it has turned out to take, `learning` what it says of its models. No message of
    an error holds the key.
    """

    def __init__(self, send: Send, faults: Faults) -> None:
        self.unwanted: dict[str, frozenset[str]] = {}
        self.thinks_first: dict[str, bool] = {}
        self.lengths: dict[str, int] = {}
        self.place = faults.place
        self.faults = faults
        self.learning = Learning(send.transport)
        self._send = send

    @contextmanager
    def posted(
        self, path: str, body: str, control: Control, refused: Refused, is_shown: IsShown
    ) -> Iterator["Pieces"]:
        """Post `body` once and give the bytes of the reply; let go of the connection in the end."""
        with _faults_of_the_line(self.faults, control):
            response = self._send(path, body.encode())
        try:
            if response.status_code >= 300:
                raise self._refusal(response, body, refused)
            with PACE.reading():
                yield Pieces(response, control, self.place, is_shown)
        finally:
            response.close()

    def _refusal(self, response: httpx2.Response, body: str, refused: Refused) -> ProviderError:
        status, said = response.status_code, response.read().decode("utf-8", "replace")
        fault = self.faults.of_status(status, response.headers, said)
        mended = refused(status, said, body)
        return fault if mended is None else ParameterRefused(str(fault), *mended)


class Sender:
    """Post with fixed headers over connections of our own."""

    def __init__(self, base_url: str, headers: Mapping[str, str]) -> None:
        httpx2.URL(base_url)
        self._base_url = base_url.rstrip("/")
        self._headers = HEADERS | dict(headers)
        self.transport = Transport(base_url)

    def __call__(self, path: str, content: bytes) -> httpx2.Response:
        """Post `content` and return the response, an error's as well."""
        url = self._base_url + path
        request = httpx2.Request("POST", url, headers=self._headers, content=content)
        return self.transport.handle_request(request)


class Pieces:
    """The bytes of one reply as they come, with every fault of the line named.

    What was read at once is one piece, however many chunks it came in: each piece, not each token,
    then takes the way through the engine. A beginning is read as it comes until some of it is
    shown, for a reply begins with a label or a brace that nobody sees.
    """

    def __init__(
        self, response: httpx2.Response, control: Control, place: str, is_shown: IsShown
    ) -> None:
        self._bytes = response.iter_bytes()
        self._control = control
        self._patience = control.idle_seconds
        self._place = place
        self._is_shown = is_shown
        self._size = 0
        self._failure: Exception | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._failure is not None:
            raise self._failure
        with watched(self._control, self._patience, gathers=self._gathers()) as line:
            pieces = [self._next()]
            while line.has_more(pieces[-1]) and self._failure is None:
                try:
                    pieces.append(self._next())
                except (StopIteration, AgentError) as failure:
                    self._failure = failure
        return b"".join(pieces)

    def _gathers(self) -> bool:
        return self._size > 0 and (self._size > BEGINNING_BYTES or self._is_shown())

    def _next(self) -> bytes:
        try:
            piece = next(self._bytes)
        except httpcore2.ReadTimeout as error:
            raise _silent(self._place, self._control) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise ProviderTruncated(
                f"The connection to the model server at {self._place} broke before the reply was "
                "complete."
            ) from error
        except httpx2.DecodingError as error:
            raise ProviderGarbled(
                f"The model server at {self._place} sent a reply that cannot be decompressed."
            ) from error
        self._size += len(piece)
        if self._size > MAX_BYTES:
            raise ProviderEndless(f"The reply is longer than {MAX_BYTES:,} bytes; it never stops.")
        return piece

    def end_soon(self) -> None:
        """Wait only a moment for what may still come after the text."""
        self._patience = min(self._patience, ENDING_SECONDS)

    def drain(self) -> None:
        """Read what is left, so that the connection can serve the next call."""
        self.end_soon()
        try:
            for _ in self:
                pass
        except Exception:
            # The reply is complete: a connection that cannot be kept is closed, and that is all.
            return


_servers: dict[tuple[str, str, str, SecretStr], Server] = {}
_lock = threading.Lock()


def shared(
    base_url: str, api_key: SecretStr, sender: Callable[[str, str], Send], faults: Faults
) -> Server:
    """Return this process's one Server of the address, the key and the dialect.

    `sender` makes what posts to an address with a key; `faults` says which variables configure it.
    Raises ConfigurationError for an address or a key that cannot be used.
    """
    with _lock:
        which = (base_url.rstrip("/"), faults.key_name, faults.address_name, api_key)
        if which not in _servers:
            key = api_key.get_secret_value()
            if not key.isascii() or not key.isprintable() or " " in key:
                raise ConfigurationError(
                    "The key of the model server holds a character no key has."
                )
            faults = replace(faults, place=urlsplit(base_url).netloc, key=key)
            try:
                send = sender(base_url, key)
            except httpx2.InvalidURL as error:
                raise ConfigurationError(
                    f"No model server can be at {faults.place}: {error}"
                ) from error
            _servers[which] = Server(send, faults)
        return _servers[which]


@contextmanager
def _faults_of_the_line(faults: Faults, control: Control) -> Iterator[None]:
    """Let `control` halt a request, and name what keeps it from being answered."""
    try:
        with watched(control, control.idle_seconds):
            yield
    except (httpcore2.ReadTimeout, httpcore2.WriteTimeout) as error:
        raise _silent(faults.place, control) from error
    except (*UNREACHABLE, UnicodeError) as error:
        raise ProviderUnreachable(
            f"No model server answers at {faults.place}: {error or type(error).__name__}. "
            f"Is it running, and is {faults.address_name} right?"
        ) from error
    except httpcore2.RemoteProtocolError as error:
        raise _not_http(faults.place, error) from error


def _silent(place: str, control: Control) -> ProviderSilent:
    return ProviderSilent(
        f"The model server at {place} sent nothing for {control.idle_seconds:g} seconds."
    )


def _not_http(place: str, error: httpcore2.RemoteProtocolError) -> ProviderError:
    """Tell a server that hung up from one that speaks another protocol."""
    if "disconnected" in str(error):
        return ProviderUnreachable(
            f"The model server at {place} closed the connection without an answer."
        )
    return ProviderGarbled(f"What answers at {place} speaks no HTTP.")
