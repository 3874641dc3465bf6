"""The frames of the live protocol that a page may send (docs/protocol.md)."""

import json
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chat.runs.validation import MAX_FEEDBACK

MAX_CHARACTERS = 700_000
"""The longest message a client may send: a whole question with every character escaped."""

Id = Annotated[int, Field(ge=0, lt=2**63)]


class InvalidFrame(Exception):
    """Raised for a message that is no frame of the protocol; the text is for its sender."""

    def __init__(self, code: str, message: str, client_message_id: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.client_message_id = client_message_id


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Hello(_Frame):
    """What the page shows: the cursor of each run that has not ended, and its newest run."""

    type: Literal["hello"]
    cursors: dict[Id, str] = Field(default={}, max_length=200)
    after: Id = 0


class Send(_Frame):
    """A question; sent twice under one id it is asked once.

    `model` is one of the page's menu, empty to leave it to the policy.
    """

    type: Literal["send"]
    client_message_id: UUID
    text: str
    policy: str = Field(max_length=100)
    model: str = Field(default="", max_length=250)
    parent: Id | None = None


class Stop(_Frame):
    """The wish to end a run."""

    type: Literal["stop"]
    run: Id


class Approve(_Frame):
    """The answer to an approval that a run waits for; `feedback` is for the model."""

    type: Literal["approve"]
    approval: Id
    decision: Literal["grant", "deny"]
    feedback: str = Field(default="", max_length=MAX_FEEDBACK)


class Ping(_Frame):
    """A sign of life, and that everything sent so far has been read; it may ask for one back."""

    type: Literal["ping"]
    answer: bool = False


ClientFrame = Hello | Send | Stop | Approve | Ping
_CLIENT: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])


def parse(text: str | None) -> ClientFrame:
    """Read a client's message; raises InvalidFrame for anything that is not a frame."""
    if text is None:
        raise InvalidFrame("not_json", "A message must be text.")
    if len(text) > MAX_CHARACTERS:
        raise too_long()
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidFrame("not_json", "This message is not valid JSON.") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise InvalidFrame("no_type", "A message must be a JSON object with a type.")
    try:
        return _CLIENT.validate_python(message)
    except ValidationError as error:
        raise _invalid(message, error) from None


def too_long() -> InvalidFrame:
    """Return the error for a message that is longer than any question."""
    return InvalidFrame("too_long", "This message is too long to be read.")


def _invalid(message: dict[str, Any], error: ValidationError) -> InvalidFrame:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    kind = message["type"][:40]
    mine = message.get("client_message_id")
    mine = mine[:80] if isinstance(mine, str) else None
    if problem["type"] == "union_tag_invalid":
        return InvalidFrame("unknown_type", f"There is no message of the type {kind!r}.", mine)
    field = ".".join(str(part) for part in problem["loc"][1:])
    return InvalidFrame("wrong_shape", f"In a {kind} message, {field}: {problem['msg']}.", mine)
