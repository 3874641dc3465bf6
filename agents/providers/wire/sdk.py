"""The way to an OpenAI-compatible server: the openai SDK's client, for its auth and transport only.

The body is ours and so is the reading of the stream; measured, the SDK's own walk over the history
and its chunk objects cost six times as much CPU.
"""

import httpx2
import openai

from agents.providers.wire.server import HEADERS
from agents.providers.wire.transport import Transport

SENT_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    }
)
"""What a model call needs; the SDK adds what it finds in variables, and that is not for all."""


class SdkSender:
    """Post with one key to one server; safe to share between threads."""

    def __init__(self, base_url: str, key: str) -> None:
        self.transport = Transport(base_url, sent_headers=SENT_HEADERS)
        # The SDK's own retries sleep where nothing can halt them.
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=key,
            # Named here, so that no variable of the SDK's own can put another in its place.
            default_headers={"Authorization": f"Bearer {key}"},
            max_retries=0,
            timeout=None,
            http_client=httpx2.Client(transport=self.transport, follow_redirects=False),
        )

    def __call__(self, path: str, content: bytes) -> httpx2.Response:
        """Post `content` and return the response, an error's as well."""
        streamed: bool = True  # the SDK's overloads tell a literal from a bool
        try:
            response: httpx2.Response = self._client.post(
                path,
                cast_to=httpx2.Response,
                content=content,
                options={"headers": HEADERS},
                stream=streamed,
            )
        except openai.APIStatusError as error:
            return error.response
        return response
