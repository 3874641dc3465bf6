"""One OpenAI-compatible server: the client that all its calls share, and one call to it."""

import json
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpcore2
import httpx2
import openai
from pydantic import SecretStr

from agents.control import Control
from agents.errors import (
    ConfigurationError,
    ProviderError,
    ProviderGarbled,
    ProviderSilent,
    ProviderTruncated,
    ProviderUnreachable,
)
from agents.providers.base import Finish, Token
from agents.providers.faults import Faults, ParameterRefused, refused_parameter
from agents.providers.replies import read_reply
from agents.providers.transport import Transport, watched

ENDING_SECONDS = 2.0
"""What a server gets after the text is complete, to count the tokens and close the stream."""
MAX_BYTES = 256_000_000
"""The bytes that one reply may have in all; each token brings some 250 besides its own."""
UNREACHABLE = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProxyError)
HEADERS = {
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
}


class Server:
    """Post to one server with one key; safe to share between threads.

    `unwanted` holds, by model, the parameters that the server has turned out not to take. No
    message of an error holds the key.
    """

    def __init__(self, base_url: str, api_key: SecretStr) -> None:
        self.unwanted: dict[str, frozenset[str]] = {}
        self.place = urlsplit(base_url).netloc
        self._key = api_key.get_secret_value()
        if not self._key.isascii() or not self._key.isprintable() or " " in self._key:
            raise ConfigurationError("The key of the model server holds a character no key has.")
        self._faults = Faults(self.place, self._key)
        try:
            # The SDK's own retries sleep where nothing can halt them.
            self._client = openai.OpenAI(
                base_url=base_url,
                api_key=self._key,
                # Named here, so that no variable of the SDK's own can put another in its place.
                default_headers={"Authorization": f"Bearer {self._key}"},
                max_retries=0,
                timeout=None,
                http_client=httpx2.Client(transport=Transport(base_url), follow_redirects=False),
            )
        except httpx2.InvalidURL as error:
            raise ConfigurationError(f"No model server can be at {self.place}: {error}") from error

    def reply(self, body: str, control: Control) -> Iterator[Token | Finish]:
        """Post `body` once and yield the tokens of the reply, then its Finish."""
        response = self._post(body, control)
        try:
            pieces = _Pieces(response, control, self.place)
            yield from read_reply(pieces, self._faults, pieces.end_soon)
            pieces.drain()
        finally:
            response.close()

    def _post(self, body: str, control: Control) -> httpx2.Response:
        streamed: bool = True
        try:
            with watched(control, control.idle_seconds):
                response: httpx2.Response = self._client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    content=body.encode(),
                    options={"headers": HEADERS},
                    stream=streamed,
                )
        except openai.APIStatusError as error:
            raise self._refused(error.response, body) from None
        except (httpcore2.ReadTimeout, httpcore2.WriteTimeout) as error:
            raise _silent(self.place, control) from error
        except (*UNREACHABLE, UnicodeError) as error:
            raise ProviderUnreachable(
                f"No model server answers at {self.place}: {error or type(error).__name__}. "
                "Is it running, and is OPENAI_BASE_URL right?"
            ) from error
        except httpcore2.RemoteProtocolError as error:
            raise _not_http(self.place, error) from error
        return response

    def _refused(self, response: httpx2.Response, body: str) -> ProviderError:
        status, said = response.status_code, response.text
        fault = self._faults.of_status(status, response.headers, said)
        parameter = refused_parameter(status, said, json.loads(body))
        return fault if parameter is None else ParameterRefused(str(fault), parameter)


class _Pieces:
    """The bytes of one reply as they come, with every fault of the line named."""

    def __init__(self, response: httpx2.Response, control: Control, place: str) -> None:
        self._bytes = response.iter_bytes()
        self._control = control
        self._patience = control.idle_seconds
        self._place = place
        self._size = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            with watched(self._control, self._patience):
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
            raise ProviderGarbled(f"The reply is longer than {MAX_BYTES:,} bytes; it never stops.")
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


_servers: dict[tuple[str, SecretStr], Server] = {}
_lock = threading.Lock()


def shared(base_url: str, api_key: SecretStr) -> Server:
    """Return this process's one Server of the address and key; a client takes 57 ms to build.

    Raises ConfigurationError for a key that cannot be sent.
    """
    with _lock:
        which = (base_url.rstrip("/"), api_key)
        if which not in _servers:
            _servers[which] = Server(base_url, api_key)
        return _servers[which]


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
