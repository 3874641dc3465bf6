"""A long run is followed over lines that are cut a thousand times; nothing is lost or doubled.

Once by the code of the page itself, with the page's own sockets, events and pauses, and once by a
plain client, which shows that it is the server, too.
"""

import json
import os
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.test import Client
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin

from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Conversation, Policy, Run, User
from chat.runs.ask import ask
from chat.runs.stop import stop
from chat.stream.render import render_run
from chat.stream.streams import StreamId
from chat.templatetags.turns import SHOWN_TURNS
from tests.transports.cutting import CuttingProxy

PAGE = Path(__file__).parents[2] / "transports" / "page.mjs"
CUTS = 1000
TURNS, WORDS, RATE = 900, 40, 100
SEED = 4
PATIENCE = 240
"""Seconds for all cuts, and for all to see the end, on a machine that is busy with other things."""


def turn(number: int) -> dict[str, Any]:
    words = " ".join(f"w{number}.{word}" for word in range(WORDS))
    action = f'Action: calculator\nAction Input: {{"expression": "{number} + 1"}}'
    return {"say": f"Thought: {words}\n{action}", "rate": RATE}


@pytest.fixture
def run(stack: Any, person: Callable[..., User]) -> Run:
    """Ask for a run that is longer than a thousand cuts take."""
    policy = Policy.objects.create(slug="long", name="Long")
    script = tuple(turn(number) for number in range(TURNS))
    version = policy.publish(
        PolicySpec(
            policy="explicit",
            model=ModelChoice(provider="scripted", script=script),
            tools=("calculator",),
            limits=Limits(max_turns=TURNS),
        )
    )
    conversation = Conversation.objects.create(owner=person("ada"))
    return ask(conversation, "Go", policy_version=version, client_message_id=uuid.uuid4())


@pytest.fixture
def cookie(run: Run) -> str:
    """Sign the one in who asked."""
    client = Client()
    client.force_login(run.conversation.owner)
    return f"sessionid={client.cookies['sessionid'].value}"


@pytest.mark.timeout(3 * PATIENCE)
def test_the_page_shows_what_is_stored_after_a_thousand_cuts(
    stack: Any, run: Run, cookie: str
) -> None:
    html = render_run(run)
    port = int(stack.url.rpartition(":")[2])
    with CuttingProxy(port, seed=SEED, cuts=CUTS) as proxy, ExitStack() as pages_end:
        pages = [open_page(proxy.port, run, cookie, html) for _ in range(10)]
        for page in pages:
            pages_end.callback(page.kill)
        assert proxy.enough.wait(PATIENCE), f"only {proxy.made} cuts"
        stop(run)
        shown = [json.loads(page.communicate(timeout=PATIENCE)[0]) for page in pages]

    thoughts = list(run.turns.values_list("thought", flat=True))
    opened = sum(one["opened"]["socket"] + one["opened"]["events"] for one in shown)
    assert opened > CUTS / 2
    for one in shown:
        assert one["errors"] == []
        assert one["snapshots"] == []
        assert one["thoughts"] == thoughts[-SHOWN_TURNS:]
        assert [swap for swap in typed(one) if swap["before"] != swap["after"]] == []
    # A page on so bad a line may be far behind at the end, and is then shown what is stored.
    assert sum(len(typed(one)) for one in shown) >= len(shown)


def typed(shown: dict[str, Any]) -> list[dict[str, str]]:
    """Return each turn's text as it was typed, and as the server then put it in its place."""
    return [swap for swap in shown["typed"] if "turn" in swap["id"]]


def open_page(port: int, run: Run, cookie: str, html: str) -> "subprocess.Popen[str]":
    node = shutil.which("node")
    assert node is not None
    environment = os.environ | {
        "LINES_URL": f"http://127.0.0.1:{port}",
        "LINES_CONVERSATION": str(run.conversation_id),
        "LINES_COOKIE": cookie,
        "LINES_HTML": html,
    }
    command = [node, "--no-warnings", "--experimental-websocket", str(PAGE)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


class Seen(NamedTuple):
    """What a plain client was sent of a run: the ids of the frames, and the events in them."""

    ids: list[StreamId]
    events: list[dict[str, Any]]


def test_the_server_sends_each_event_once_over_a_thousand_cuts(
    stack: Any, run: Run, cookie: str, wait_for: Callable[..., None]
) -> None:
    with CuttingProxy(int(stack.url.rpartition(":")[2]), seed=SEED, cuts=CUTS) as proxy:
        seen = [Seen([StreamId(0, 0)], []) for _ in range(8)]
        watchers = [
            threading.Thread(target=watch, args=(proxy.port, run, cookie, one), daemon=True)
            for one in seen
        ]
        for watcher in watchers:
            watcher.start()
        assert proxy.enough.wait(PATIENCE), f"only {proxy.made} cuts"
        # Who comes back after the end is shown what is stored, and no events; so all are there.
        now = run.turns.count()
        wait_for(lambda: all(newest(one) > now for one in seen), "all to be back")
        stop(run)
        for watcher in watchers:
            watcher.join(PATIENCE)

    thoughts = list(run.turns.values_list("thought", flat=True))
    for ids, events in seen:
        assert events[-1]["type"] == "run.ended"
        assert all(after.seq > before.seq for before, after in pairwise(ids))
        said = ["" for _ in thoughts]
        for event in events:
            if event["type"] == "thought.delta":
                said[event["index"]] += event["text"]
        assert [text.strip() for text in said] == thoughts


def newest(seen: Seen) -> int:
    """Return the number of the newest turn that was seen to begin."""
    begun = (event["index"] for event in reversed(seen.events) if event["type"] == "turn.started")
    return next(begun, -1)


def watch(port: int, run: Run, cookie: str, seen: Seen) -> None:
    """Follow a run to its end, going on from the last frame after each loss."""
    address = f"ws://127.0.0.1:{port}/ws/conversations/{run.conversation_id}/"
    headers = {"Cookie": cookie}
    deadline = time.monotonic() + 2 * PATIENCE
    while not has_ended(seen):
        assert time.monotonic() < deadline
        with suppress(WebSocketException, InvalidHandshake, OSError, EOFError):
            origin = Origin(f"http://127.0.0.1:{port}")
            with connect(address, origin=origin, additional_headers=headers) as socket:
                cursors = {str(run.pk): str(seen.ids[-1])}
                hello = {"type": "hello", "cursors": cursors, "after": run.pk}
                socket.send(json.dumps(hello))
                while not has_ended(seen):
                    take(json.loads(socket.recv(timeout=30)), seen)


def has_ended(seen: Seen) -> bool:
    return bool(seen.events) and seen.events[-1]["type"] == "run.ended"


def take(frame: dict[str, Any], seen: Seen) -> None:
    assert frame["type"] in ("events", "caught_up", "heartbeat", "run.queued"), frame
    if frame["type"] == "events":
        seen.ids.append(StreamId.parse(frame["id"]))
        seen.events.extend(frame["events"])
