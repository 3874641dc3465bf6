"""Measure what the calls that wait for a slot cost Valkey while their server wants no calls (429).

Run as `make bench-slots`. So many calls of four processes stand in one line in a pause, as the
workers' calls do, and this process appends to a stream as the live path does. Cores are Valkey's
own CPU by its word, over some seconds; the append is by the wall clock, in milliseconds. Alone are
the calls that took Redis for dead and went on with a line of their process.
"""

import os
import statistics
import subprocess
import sys
import time

from redis import Redis

from project.local.throwaway import throwaway

WAITING = (64, 400, 860)
PROCESSES = 4
SECONDS = 8.0
COME = 10.0
"""Seconds until all wait; of those whose question took too long some never do."""

CALLS = """
import logging
import sys
import threading
from redis import Redis
from agents.control import Control
from agents.errors import AgentError
from agents.model.slots import Quota
from chat.runs.worker.slots import RedisSlots

def call():
    try:
        slots.acquire(quota, control)
    except AgentError:
        pass

logging.disable(logging.WARNING)
slots = RedisSlots(Redis.from_url(sys.argv[1], socket_timeout=0.5, socket_connect_timeout=0.5))
quota, control = Quota("bench", 256), Control(600)
threads = [threading.Thread(target=call) for _ in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()
sys.stdin.readline()
print(slots._alone.waiting(quota))
control.stop()
for thread in threads:
    thread.join()

"""


def main() -> None:
    """Print the figures."""
    with throwaway() as environment:
        url = environment["REDIS_URL"]
        print(f"{'waiting':>8} {'cores':>7} {'append p50':>11} {'p99':>7} {'alone':>6}")
        for waiting in WAITING:
            measure(url, environment, waiting)


def measure(url: str, environment: dict[str, str], waiting: int) -> None:
    """Let so many calls wait in a pause, and print what that costs."""
    redis = Redis.from_url(url)
    redis.flushall()
    redis.set("slots:{bench}:paused:e3b0c44298fc1c14", 1, px=100_000)  # of the server named ""
    command = [sys.executable, "-c", CALLS, url, str(waiting // PROCESSES)]
    processes = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | environment | {"DJANGO_SETTINGS_MODULE": "project.settings"},
        )
        for _ in range(PROCESSES)
    ]
    began = time.monotonic()
    while int(redis.zcard("slots:{bench}:line")) < waiting and time.monotonic() - began < COME:
        time.sleep(0.1)
    cores, appends = watched(redis)
    alone = sum(int(process.communicate(b"\n")[0]) for process in processes)
    p99 = statistics.quantiles(appends, n=100)[98]
    figures = f"{statistics.median(appends):11.2f} {p99:7.2f} {alone:6}"
    print(f"{waiting:8} {cores:7.3f} {figures}", flush=True)


def watched(redis: Redis) -> tuple[float, list[float]]:
    """Return Valkey's cores over some seconds, and how long each append to a stream took."""
    appends: list[float] = []
    began, before = time.monotonic(), cpu(redis)
    while time.monotonic() - began < SECONDS:
        sent = time.monotonic()
        redis.xadd("bench", {"d": "x" * 100}, maxlen=100)
        appends.append((time.monotonic() - sent) * 1000)
        time.sleep(0.01)
    return (cpu(redis) - before) / (time.monotonic() - began), appends


def cpu(redis: Redis) -> float:
    """Return the seconds of CPU that Valkey has used."""
    used = redis.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


if __name__ == "__main__":
    main()
