"""The demo model as a provider like any other."""

import json

import pytest

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.errors import Stopped
from agents.providers.base import Finish, ModelRequest, Token
from agents.providers.demo import DemoProvider

REQUEST = ModelRequest(
    purpose=Purpose.THINK,
    messages=[
        Message(role=Role.SYSTEM, content="<tools>\n- calculator: x\n</tools>"),
        Message(role=Role.USER, content="hi"),
    ],
)


def test_the_reply_streams_in_tokens_and_ends_once() -> None:
    provider = DemoProvider(rate=None)

    *tokens, finish = provider.stream(provider.body(REQUEST), Control())

    assert len(tokens) > 20
    assert all(isinstance(token, Token) for token in tokens)
    assert isinstance(finish, Finish)


def test_no_token_count_is_invented() -> None:
    provider = DemoProvider(rate=None)

    *_, finish = provider.stream(provider.body(REQUEST), Control())

    assert isinstance(finish, Finish)
    assert (finish.usage.input_tokens, finish.usage.output_tokens) == (None, None)


def test_a_stop_ends_the_reply() -> None:
    provider, control = DemoProvider(), Control()
    reply = provider.stream(provider.body(REQUEST), control)
    next(reply)

    control.stop()

    with pytest.raises(Stopped):
        next(reply)


def test_the_body_has_its_messages_last() -> None:
    body = DemoProvider().body(REQUEST)

    assert list(json.loads(body))[-1] == "messages"
    assert json.loads(body)["model"] == "rule-based"
