"""What one read brings goes on its way at once, in however many chunks; nothing is lost."""

import threading
from collections.abc import Iterator

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import ProviderTruncated
from agents.providers.base import CallDelta, Finish, ModelRequest, NativeCall, Token
from tests.unit.agents.providers.calls import ProviderOf
from tests.unit.agents.providers.wire import Wire

WORDS = [f"word {number} " for number in range(30)]

Item = Token | CallDelta | NativeCall | Finish


@pytest.fixture
def go_on() -> threading.Event:
    """Let the server say the rest."""
    return threading.Event()


@pytest.fixture
def reply(provider_of: ProviderOf, wire: Wire) -> Iterator[Item]:
    provider = provider_of(wire.base_url)
    question = [Message(role=Role.USER, content="Go on.")]
    body = provider.body(ModelRequest(purpose=Purpose.THINK, messages=question))
    return provider.stream(body, Control(60, idle_seconds=30))


def after(event: threading.Event, content: bytes) -> Iterator[bytes]:
    event.wait(10)
    yield content


def padded(chunk: bytes) -> bytes:
    """Write the length of a chunk with more digits than it needs, as some servers do."""
    return b"00000000" + chunk


def text_of(token: Item) -> str:
    assert isinstance(token, Token)
    return token.text


def test_chunks_that_came_together_are_one_token(
    wire: Wire, reply: Iterator[Item], go_on: threading.Event
) -> None:
    together = b"".join(map(wire.says, WORDS)) + wire.ends()
    wire.answers(wire.STREAM + wire.says("First. "), after(go_on, together))

    assert text_of(next(reply)) == "First. "
    go_on.set()
    *tokens, finish = reply
    assert [text_of(token) for token in tokens] == ["".join(WORDS)]
    assert isinstance(finish, Finish)


def test_text_comes_before_the_line_breaks_behind_it(
    wire: Wire, reply: Iterator[Item], go_on: threading.Event
) -> None:
    together = b"".join(padded(wire.says(word)) for word in WORDS)
    wire.answers(wire.STREAM + wire.says("First. "), after(go_on, together), wire.CLOSE)
    said = [text_of(next(reply))]
    go_on.set()

    with pytest.raises(ProviderTruncated):
        said.extend(map(text_of, reply))

    assert "".join(said) == "First. " + "".join(WORDS)


def test_text_comes_before_the_error_behind_it(
    wire: Wire, reply: Iterator[Item], go_on: threading.Event
) -> None:
    together = wire.says("Second.") + wire.event("nonsense")
    wire.answers(wire.STREAM + wire.says("First. "), after(go_on, together), wire.HOLD)
    said = [text_of(next(reply))]
    go_on.set()

    with pytest.raises(Exception, match="nonsense"):
        said.extend(map(text_of, reply))

    assert said == ["First. ", "Second."]
