"""How a test makes a provider and asks it, as the engine does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agents.contracts import Message
from agents.control import Control
from agents.model.call import Call, Said
from agents.providers.base import Finish, Token
from agents.providers.vendors import RemoteName
from agents.providers.wire.remote import RemoteProvider


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


def attempts(call: Call) -> Iterator[Said]:
    """Make a call as often as the engine does."""
    while (yield from call.attempt()):
        pass
