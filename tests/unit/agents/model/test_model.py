"""A model call leaves an exact record, however it ends."""

from collections.abc import Iterator

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ProviderBusy
from agents.events import AnswerDelta, Event, ModelCalled, ThoughtDelta
from agents.model.model import Model
from agents.providers.base import IsShown, ModelRequest, Provider, Reply, Token, not_shown
from agents.providers.scripted import ScriptedProvider

ASKED = [Message(role=Role.USER, content="Q?")]


def test_the_record_holds_request_and_reply() -> None:
    model = Model(ScriptedProvider([{"say": "a b"}]), Control())

    *tokens, called = model.stream(ASKED, purpose=Purpose.THINK)

    assert [token.text for token in tokens if isinstance(token, Token)] == ["a ", "b"]
    assert isinstance(called, ModelCalled)
    assert (called.call.reply, called.call.purpose, called.call.error) == ("a b", "think", "")
    assert "Q?" in called.call.request


def test_a_failed_call_is_recorded_before_its_error() -> None:
    script = [{"fail": "busy", "after": "half", "message": "Later."}]
    items = Model(ScriptedProvider(script), Control()).stream(ASKED, purpose=Purpose.THINK)

    assert isinstance(next(items), Token)
    called = next(items)

    assert isinstance(called, ModelCalled)
    assert (called.call.reply, called.call.error) == ("half", "Later.")
    with pytest.raises(ProviderBusy):
        next(items)


class Watched(Provider):
    """A provider that tells whether its stream was closed."""

    name = model = "watched"

    def __init__(self) -> None:
        self.is_closed = False

    def body(self, request: ModelRequest) -> str:
        return request.model_dump_json()

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        try:
            while True:
                yield Token(text="x")
        finally:
            self.is_closed = True


def test_a_reply_is_cut_off_and_its_connection_closed_when_it_is_enough() -> None:
    provider = Watched()

    *tokens, called = Model(provider, Control()).stream(
        ASKED, purpose=Purpose.THINK, enough=lambda: True
    )

    assert [len(tokens), provider.is_closed] == [1, True]
    assert isinstance(called, ModelCalled)
    assert called.call.stop_reason == "enough"


class Silences(ScriptedProvider):
    """A provider that asks before each token whether something of the reply is shown."""

    def __init__(self, *script: dict[str, str]) -> None:
        super().__init__(script)
        self.shown: list[bool] = []

    def stream(self, body: str, control: Control, is_shown: IsShown = not_shown) -> Reply:
        for item in super().stream(body, control, is_shown):
            self.shown.append(is_shown())
            yield item


@pytest.mark.parametrize("told", [ThoughtDelta, AnswerDelta])
def test_a_reply_is_not_shown_until_some_of_it_is_told(told: type[ThoughtDelta]) -> None:
    provider = Silences({"say": "a b c"})

    list(Model(provider, Control()).read(Late(told), ASKED, purpose=Purpose.THINK))

    assert provider.shown == [False, False, True, True]


def test_a_reply_that_is_read_as_a_whole_is_never_shown() -> None:
    provider = Silences({"say": "a b c"})

    list(Model(provider, Control()).complete(ASKED, purpose=Purpose.THINK))

    assert not any(provider.shown)


class Late:
    """A reader that shows nothing of its first token."""

    done = False

    def __init__(self, told: type[ThoughtDelta]) -> None:
        self._told = told
        self._count = 0

    def think_aloud(self, text: str) -> Iterator[Event]:
        yield from ()

    def feed(self, chunk: str) -> Iterator[Event]:
        self._count += 1
        if self._count > 1:
            yield self._told(text=chunk)

    def finish(self, *, is_cut: bool) -> Iterator[Event]:
        yield from ()
