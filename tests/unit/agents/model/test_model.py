"""A model call leaves an exact record, however it ends."""

from collections.abc import Iterator

import pytest

from agents.contracts import Message, Role
from agents.control import Control
from agents.errors import ProviderBusy
from agents.events import ModelCalled
from agents.model.model import Model
from agents.providers.base import Finish, ModelRequest, Token
from agents.providers.scripted import ScriptedProvider

ASKED = [Message(role=Role.USER, content="Q?")]


def test_the_record_holds_request_and_reply() -> None:
    model = Model(ScriptedProvider([{"say": "a b"}]), Control())

    *tokens, called = model.stream(ASKED, purpose="think")

    assert [token.text for token in tokens if isinstance(token, Token)] == ["a ", "b"]
    assert isinstance(called, ModelCalled)
    assert (called.call.reply, called.call.purpose, called.call.error) == ("a b", "think", "")
    assert "Q?" in called.call.request


def test_a_failed_call_is_recorded_before_its_error() -> None:
    script = [{"fail": "busy", "after": "half", "message": "Later."}]
    items = Model(ScriptedProvider(script), Control()).stream(ASKED, purpose="think")

    assert isinstance(next(items), Token)
    called = next(items)

    assert isinstance(called, ModelCalled)
    assert (called.call.reply, called.call.error) == ("half", "Later.")
    with pytest.raises(ProviderBusy):
        next(items)


class Watched:
    """A provider that tells whether its stream was closed."""

    name = model = "watched"

    def __init__(self) -> None:
        self.is_closed = False

    def body(self, request: ModelRequest) -> str:
        return request.model_dump_json()

    def stream(self, body: str, control: Control) -> Iterator[Token | Finish]:
        try:
            while True:
                yield Token(text="x")
        finally:
            self.is_closed = True


def test_a_reply_is_cut_off_and_its_connection_closed_when_it_is_enough() -> None:
    provider = Watched()

    *tokens, called = Model(provider, Control()).stream(ASKED, purpose="think", enough=lambda: True)

    assert [len(tokens), provider.is_closed] == [1, True]
    assert isinstance(called, ModelCalled)
    assert called.call.stop_reason == "enough"
