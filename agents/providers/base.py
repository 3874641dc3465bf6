"""What every provider of models offers: the exact body it would post, and the reply as it comes."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Self

from pydantic import model_validator

from agents.contracts import Message, Purpose, ToolCall, Usage, Value
from agents.control import Control
from agents.errors import ProviderRefused
from agents.providers.abilities import UNKNOWN, Abilities

UNFIT = re.compile("[\x00\ud800-\udfff]")
"""What no text can hold that is to be stored."""

REPLY_SHARE = 4
"""A reply may take the fourth part of what its model takes in all; the rest is the request's."""

IsShown = Callable[[], bool]
"""Tell whether something of the reply has been shown by now."""


class ToolSchema(Value):
    """A tool as a request offers it; `inputs` is the JSON Schema of an object.

    `strict` asks the server to let the model write nothing else, where it can for this schema.
    """

    name: str
    description: str
    inputs: dict[str, Any]
    strict: bool = False


REPLY = "reply_in_json"
"""The tool whose arguments are the reply, where its schema can be told in no other way."""
TOOLS = "tools"
"""The parameter that offers tools, by whatever name; a request for calls cannot do without it."""
CHOICES = ("auto", "required", "none")
"""What a request says of the tools it offers, besides the name of the one to be called."""


class ModelRequest(Value):
    """One question to a model, in no provider's dialect.

    `as_json` asks for one JSON object as the reply, `reply_schema` for one that follows this JSON
    Schema. `tools` may be called natively; `tool_choice` is one of CHOICES or a tool's name.
    `temperature` None leaves it to the server.
    """

    purpose: Purpose
    messages: Sequence[Message]
    as_json: bool = False
    reply_schema: dict[str, Any] | None = None
    tools: Sequence[ToolSchema] = ()
    tool_choice: str = "auto"
    stop: Sequence[str] = ()
    temperature: float | None = None
    max_tokens: int | None = None

    @model_validator(mode="after")
    def _chooses_what_it_offers(self) -> Self:
        offered = {tool.name for tool in self.tools}
        if self.tool_choice not in offered and self.tool_choice not in CHOICES:
            raise ValueError("A tool that is to be called must be offered.")
        return self


class Token(Value):
    """A piece of the reply; reasoning is what a thinking model says to itself."""

    text: str
    kind: Literal["answer", "reasoning"] = "answer"


class CallDelta(Value):
    """More of a call that the model makes in its server's own way, for who shows it as it grows.

    `index` is its place among the calls of the reply, from 0; `text` is more of its arguments as
    JSON. Nothing is carried out by it.
    """

    index: int
    name: str
    text: str = ""
    kind: Literal["call"] = "call"


class NativeCall(Value):
    """A call that the model made in its server's own way; all of a reply come behind its text.

    `id` is the server's, or made up where it gave none; `arguments` is the JSON as it came. `kept`
    is what the server wants back with the call, as it gave it: a signature, or signed thoughts.
    What it wants back of the reply as a whole comes with the first call.
    """

    index: int
    id: str
    name: str
    arguments: str
    kept: tuple[dict[str, Any], ...] = ()

    @property
    def call(self) -> ToolCall | None:
        """Return what is to be carried out; None where the call is not whole, or has no name."""
        inputs = inputs_of(self.arguments)
        return ToolCall(tool=self.name, inputs=inputs) if self.name and inputs is not None else None

    @property
    def written(self) -> str:
        """Return the call as the contract's JSON, with the arguments as they came if unreadable."""
        inputs = inputs_of(self.arguments)
        said = {"tool": self.name, "inputs": self.arguments if inputs is None else inputs}
        return UNFIT.sub("\ufffd", json.dumps(said, ensure_ascii=False))


class Finish(Value):
    """The reply is complete: why the server stopped and what it counted."""

    stop_reason: str
    usage: Usage = Usage()


Reply = Generator[Token | CallDelta | NativeCall | Finish, None, None]
"""What comes of one call: tokens and pieces of calls, the whole calls, then exactly one Finish.

To close it lets go of the server.
"""


class ParameterRefused(ProviderRefused):
    """Raised when the server cannot take a parameter that the request can do without.

    `instead` is the body to post without it.
    """

    def __init__(self, message: str, parameter: str, instead: str) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.instead = instead


def not_shown() -> bool:
    """Say of a reply that nothing of it has been shown."""
    return False


class Provider(ABC):
    """A source of model replies, safe to share between threads: it is asked once and may raise.

    `name` and `model` are stored with each call. `base_url` is where the model's server is, empty
    for a model that has none. `retries` is how often whoever asks may ask again where a fault may
    pass by itself and nothing of the reply has come; a failure that is meant has none.
    """

    name: str
    model: str
    base_url: str = ""
    retries: int = 0
    _thinks_first: bool | None = None

    @property
    def thinks_first(self) -> bool | None:
        """Tell whether the model's replies begin within a thought, None while that is not known."""
        return self._thinks_first

    def learn_thinking(self, is_first: bool) -> None:
        """Know from now on whether the model's replies begin within a thought."""
        self._thinks_first = is_first

    @property
    def context_length(self) -> int | None:
        """Return how many tokens the model takes, request and reply; None while it is not known."""
        return None

    @property
    def abilities(self) -> Abilities:
        """Return what is known by now of what the model can."""
        return UNKNOWN

    def learn(self, control: Control) -> None:
        """Ask the server what the model can, where that is due, within a second or so.

        A server that does not say so is no fault; only what halts the run is raised.
        """
        return

    @abstractmethod
    def body(self, request: ModelRequest) -> str:
        """Return the JSON body to post, with the messages last so that bodies share a prefix."""

    @abstractmethod
    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        """Post `body` once and yield the reply.

        Raises a ProviderError for every fault of the server or the line, a reply without an end
        included, and what `control.check` raises within a second of the halt. `is_shown` is asked
        between reads: a reply of which something is shown may be read in larger pieces.
        """

    def lease(self, control: Control) -> AbstractContextManager["Provider"]:
        """Wait, and give what may be asked once, now; nothing is waited for unless it is said so.

        Raises what `control.safe_point` does while it waits.
        """
        return nullcontext(self)

    def pause(self, seconds: float) -> bool:
        """Let nobody ask the model's server for so long; tell whether a lease waits for that."""
        return False

    def leave_out(self, parameters: Collection[str]) -> None:
        """Ask without these parameters from now on: without them a reply came."""
        return

    def refuses(self, parameter: str) -> bool:
        """Tell whether the server has turned out not to take this parameter."""
        return False

    @property
    def line(self) -> tuple["Provider", ...]:
        """Return all who may be asked in the place of each other, in order."""
        return (self,)

    @property
    def asked(self) -> "Provider":
        """Return who of the line is asked now."""
        return self

    @property
    def is_seconded(self) -> bool:
        """Tell whether somebody else may be asked where this one does not answer."""
        return False

    def pass_on(self, failed: "Provider", error: Exception) -> bool:
        """Ask another one from now on, if `failed` fails so; tell whether one is asked."""
        return False

    def close(self) -> None:
        """Let go of what is held; the provider is not used again."""
        return


def encoded(body: Mapping[str, Any]) -> str:
    """Write a body as JSON that stays readable in every language; half a character becomes `?`."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


def inputs_of(arguments: str) -> dict[str, Any] | None:
    """Return the inputs that the arguments of a native call say, None where they are no object.

    None at all are no inputs; some servers write the JSON as a text of JSON.
    """
    try:
        found = json.loads(arguments or "{}", strict=False)
        found = json.loads(found or "{}", strict=False) if isinstance(found, str) else found
    except (ValueError, RecursionError):
        return None
    return {} if found is None else found if isinstance(found, dict) else None
