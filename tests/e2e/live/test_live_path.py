"""The way of a question through real processes: socket, table, worker, stream and back."""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.test import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Conversation, Policy, RunStatus, User

ANSWER = "Thought: on it\nFinal Answer: " + "word " * 60
SLOW = {"say": ANSWER, "rate": 15}
ENDLESS = {"hang": True, "after": ANSWER, "rate": 30}


@pytest.fixture
def open_socket(stack: Any) -> Callable[..., Any]:
    """Open a socket as a browser does: `with open_socket(ada, conversation) as socket`."""

    @contextmanager
    def opened(user: User, conversation: Conversation) -> Iterator[ClientConnection]:
        client = Client()
        client.force_login(user)
        cookie = f"sessionid={client.cookies['sessionid'].value}"
        address = f"{stack.url.replace('http', 'ws')}/ws/conversations/{conversation.pk}/"
        headers = {"Cookie": cookie}
        with connect(address, origin=stack.url, additional_headers=headers) as socket:
            yield socket

    return opened


@pytest.fixture
def ada(person: Callable[..., User]) -> User:
    """Make the person who asks."""
    return person("ada")


@pytest.fixture
def conversation(ada: User) -> Conversation:
    """Make an empty conversation of Ada's."""
    return Conversation.objects.create(owner=ada)


@pytest.fixture(autouse=True)
def _policies(stack: Any) -> None:
    for slug, reply in (("slow", SLOW), ("endless", ENDLESS)):
        policy = Policy.objects.create(slug=slug, name=slug)
        model = ModelChoice(provider="scripted", script=(reply,))
        policy.publish(PolicySpec(policy="explicit", model=model))


def hello(socket: ClientConnection, cursors: dict[str, str] | None = None, after: int = 0) -> None:
    socket.send(json.dumps({"type": "hello", "cursors": cursors or {}, "after": after}))


def send(socket: ClientConnection, policy: str) -> None:
    asked = {"client_message_id": str(uuid.uuid4()), "text": "Go", "policy": policy}
    socket.send(json.dumps({"type": "send"} | asked))


def read_until(socket: ClientConnection, kind: str) -> list[dict[str, Any]]:
    """Return the frames up to the one of a kind, or that holds an event of it."""
    frames: list[dict[str, Any]] = []
    deadline = time.monotonic() + 60
    while True:
        assert time.monotonic() < deadline, f"Waited in vain for {kind} after {frames!r:.2000}."
        frame = json.loads(socket.recv(timeout=30))
        frames.append(frame)
        if kind in (frame["type"], *(event["type"] for event in frame.get("events", ()))):
            return frames


def read_until_closed(socket: ClientConnection) -> list[dict[str, Any]]:
    """Return the frames that come before the server closes."""
    frames: list[dict[str, Any]] = []
    with suppress(ConnectionClosed):
        while True:
            frames.append(json.loads(socket.recv(timeout=30)))
    return frames


def text_of(frames: list[dict[str, Any]]) -> str:
    """Return the answer's text in the frames."""
    events = [event for frame in frames for event in frame.get("events", ())]
    return "".join(event["text"] for event in events if event["type"] == "answer.delta")


def test_a_question_goes_to_a_worker_and_its_answer_comes_back_word_by_word(
    open_socket: Callable[..., Any], ada: User, conversation: Conversation
) -> None:
    with open_socket(ada, conversation) as socket:
        hello(socket)
        send(socket, "slow")
        frames = read_until(socket, "run.ended")

    run = conversation.runs.get()
    assert run.status == RunStatus.SUCCEEDED
    assert text_of(frames).strip() == run.answer == ("word " * 60).strip()
    assert sum("answer.delta" in str(frame) for frame in frames) > 10


def test_a_run_outlives_its_worker_and_its_page_sees_the_end(
    stack: Any,
    open_socket: Callable[..., Any],
    ada: User,
    conversation: Conversation,
) -> None:
    with open_socket(ada, conversation) as socket:
        hello(socket)
        send(socket, "slow")
        read_until(socket, "answer.delta")
        stack.restart_worker()
        end = read_until(socket, "run.ended")[-1]

    run = conversation.runs.get()
    assert (run.status, run.attempt) == (RunStatus.SUCCEEDED, 2)
    assert end["id"] == run.stream_id
    assert end["events"][-1]["status"] == "succeeded"


def test_a_page_goes_on_where_it_was_when_the_web_process_is_started_again(
    stack: Any, open_socket: Callable[..., Any], ada: User, conversation: Conversation
) -> None:
    with open_socket(ada, conversation) as socket:
        hello(socket)
        send(socket, "endless")
        frames = read_until(socket, "answer.delta")
        stack.restart_web()
        frames += read_until_closed(socket)
    run = conversation.runs.get()
    cursor = [frame["id"] for frame in frames if frame["type"] == "events"][-1]
    with open_socket(ada, conversation) as socket:
        hello(socket, {str(run.pk): cursor}, after=run.pk)
        while text_of(frames).count("word") < 60:
            frames += read_until(socket, "answer.delta")
        socket.send(json.dumps({"type": "stop", "run": run.pk}))
        frames += read_until(socket, "run.ended")

    assert text_of(frames).split() == ["word"] * 60
    assert "run.snapshot" not in {frame["type"] for frame in frames}


def test_a_run_is_stopped_over_the_socket_and_keeps_its_text(
    open_socket: Callable[..., Any], ada: User, conversation: Conversation
) -> None:
    with open_socket(ada, conversation) as socket:
        hello(socket)
        send(socket, "endless")
        read_until(socket, "answer.delta")
        run = conversation.runs.get()
        socket.send(json.dumps({"type": "stop", "run": run.pk}))
        read_until(socket, "run.ended")

    run.refresh_from_db()
    assert (run.status, run.partial) == (RunStatus.STOPPED, True)
    assert run.answer.startswith("word")


def test_a_stranger_is_turned_away_by_the_real_server(
    open_socket: Callable[..., Any], person: Callable[..., User], conversation: Conversation
) -> None:
    with open_socket(person("bob"), conversation) as socket:
        frames = read_until_closed(socket)
    assert (frames, socket.close_code) == ([], 4404)


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9999"])
def test_a_foreign_page_cannot_open_a_socket(
    stack: Any, conversation: Conversation, origin: str
) -> None:
    address = f"{stack.url.replace('http', 'ws')}/ws/conversations/{conversation.pk}/"
    with pytest.raises(InvalidStatus), connect(address, origin=Origin(origin)):
        pass
