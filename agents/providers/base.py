"""What every provider of models offers: the exact body it would post, and the reply as it comes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

from agents.contracts import Message, Usage, Value
from agents.control import Control


class ModelRequest(Value):
    """One question to a model, in no provider's dialect.

    `purpose` says what the call is for (think, choose_tool, fill_inputs, summarize). `as_json` asks
    for one JSON object as the reply. `temperature` None leaves it to the server.
    """

    purpose: str
    messages: Sequence[Message]
    as_json: bool = False
    stop: Sequence[str] = ()
    temperature: float | None = None
    max_tokens: int | None = None


class Token(Value):
    """A piece of the reply; reasoning is what a thinking model says to itself."""

    type: ClassVar[Literal["TOKEN"]] = "TOKEN"
    text: str
    kind: Literal["answer", "reasoning"] = "answer"


class Finish(Value):
    """The reply is complete: why the server stopped and what it counted.

    `body` is what was posted in the end, empty when that is the body the provider was given.
    """

    stop_reason: str
    usage: Usage = Usage()
    body: str = ""


class Provider(Protocol):
    """A source of model replies, safe to share between threads."""

    @property
    def name(self) -> str:
        """Return the provider's name as stored with each call."""
        ...

    @property
    def model(self) -> str:
        """Return the name of the model that answers."""
        ...

    def body(self, request: ModelRequest) -> str:
        """Return the JSON body to post, with the messages last so that bodies share a prefix."""
        ...

    def stream(self, body: str, control: Control) -> Iterator[Token | Finish]:
        """Post `body` and yield tokens, then exactly one Finish.

        Raises a ProviderError for every fault of the server or the line, a reply without an end
        included, and what `control.check` raises within a second of the halt.
        """
        ...


def encoded(body: Mapping[str, Any]) -> str:
    """Write a body as JSON that stays readable in every language; half a character becomes `?`."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
