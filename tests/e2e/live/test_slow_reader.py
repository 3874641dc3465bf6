"""A page that does not read is cut off by the real server, and nobody else waits for it."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Conversation, Policy, Run, RunStatus, User
from chat.runs.ask import ask

ANSWER = " ".join(map(str, range(85_000)))
HELLOS = 24
"""So many times half a megabyte is more than a page may have unread, and than the kernel holds."""


@pytest.fixture
def run(stack: Any, person: Callable[..., User], wait_for: Callable[..., None]) -> Run:
    """Have a run with a long answer."""
    policy = Policy.objects.create(slug="long", name="Long")
    script = ({"say": f"Final Answer: {ANSWER}"},)
    version = policy.publish(
        PolicySpec(policy="explicit", model=ModelChoice(provider="scripted", script=script))
    )
    conversation = Conversation.objects.create(owner=person("ada"))
    run = ask(conversation, "Go", policy_version=version, client_message_id=uuid.uuid4())
    ended = Run.objects.filter(pk=run.pk, status=RunStatus.SUCCEEDED)
    wait_for(ended.exists, "the answer", seconds=60)
    return run


def opened(stack: Any, run: Run) -> ClientConnection:
    client = Client()
    client.force_login(run.conversation.owner)
    address = f"{stack.url.replace('http', 'ws')}/ws/conversations/{run.conversation_id}/"
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    headers = {"Cookie": cookie}
    return connect(
        address, origin=stack.url, additional_headers=headers, max_size=None, max_queue=1
    )


def ask_for_all(page: ClientConnection, run: Run) -> None:
    page.send(json.dumps({"type": "hello", "cursors": {str(run.pk): "0-0"}, "after": run.pk}))


def test_a_page_that_does_not_read_is_cut_off_and_takes_no_memory(stack: Any, run: Run) -> None:
    with opened(stack, run) as silent, opened(stack, run) as reading:
        before = stack.web_memory()
        # All at once: they are few enough to wait, and once the page is cut off none could be sent.
        for _ in range(HELLOS):
            ask_for_all(silent, run)
        for _ in range(HELLOS):
            ask_for_all(reading, run)
            while json.loads(reading.recv(timeout=30))["type"] != "run.snapshot":
                pass
            reading.send(json.dumps({"type": "ping"}))
        assert stack.web_memory() - before < 100_000_000

        with pytest.raises(ConnectionClosed):
            read_on(silent)


def test_a_page_that_is_cut_off_and_reads_on_is_told_why(stack: Any, run: Run) -> None:
    with opened(stack, run) as late:
        for _ in range(HELLOS):
            ask_for_all(late, run)

        with pytest.raises(ConnectionClosed) as closed:
            read_on(late)

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4408


def read_on(page: ClientConnection) -> None:
    while True:
        page.recv(timeout=30)
