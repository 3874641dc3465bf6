"""The frames of all runs of a process go to Redis once in a while, and nothing is done between."""

import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from redis import Redis

from agents.control import Control
from chat.models import Run
from chat.runs.worker.claim import claim
from chat.stream.channel import Channel
from chat.stream.publisher import TICK
from chat.stream.streams import run_key
from tests.integration.here import here

WaitFor = Callable[..., None]


def say(channel: Channel) -> None:
    channel.put({"type": "thought.delta", "index": 0, "text": "x"})
    assert here().publisher.flush(20)


def are_woken_by_nothing_but_an_event() -> bool:
    frames = sys._current_frames()
    threads = [one for one in threading.enumerate() if one.name == "publisher"]
    return bool(threads) and all(_waits(frames.get(one.ident or 0)) for one in threads)


def _waits(frame: FrameType | None) -> bool:
    above = frame and frame.f_back
    names = [one.f_code.co_name for one in (frame, above) if one is not None]
    return names == ["wait", "wait"]


def test_a_process_writes_its_frames_once_a_tick_at_most(
    asked: Callable[..., Run], valkey: Redis
) -> None:
    run = claim(asked([]).pk, "a worker")
    assert run is not None
    channel = here().publisher.open(run.pk, run.attempt, Control())
    began = time.monotonic()
    for _ in range(10):
        say(channel)
    ticks_at_most = (time.monotonic() - began) / TICK + 1

    assert valkey.xlen(run_key(run.pk)) == 10
    assert ticks_at_most >= 10


def test_a_process_that_has_nothing_to_tell_sleeps(
    asked: Callable[..., Run], wait_for: WaitFor
) -> None:
    run = claim(asked([]).pk, "a worker")
    assert run is not None
    say(here().publisher.open(run.pk, run.attempt, Control()))

    wait_for(are_woken_by_nothing_but_an_event, "the publisher to wait for the next event")
