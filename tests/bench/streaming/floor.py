"""The raw floor: Redis pub/sub to a bare `websockets` server, a frame a token, and no framework.

`floor.py serve PORT` relays; `floor.py say TOKENS RATE RUN…` publishes, from a line on stdin on.
"""

import asyncio
import os
import sys
import time
from typing import Any

import redis
import redis.asyncio
from websockets.asyncio.server import ServerConnection, serve

from tests.bench.streaming.pace import keep_pace

URL = os.environ["REDIS_URL"]


async def relay(port: int) -> None:
    """Send every message of a run's channel to the sockets that asked for it by their path."""
    client = redis.asyncio.Redis.from_url(URL, socket_timeout=None)
    channel: Any = client.pubsub(ignore_subscribe_messages=True)
    sockets: dict[bytes, set[ServerConnection]] = {}
    one_at_a_time = asyncio.Lock()

    async def serve_one(socket: ServerConnection) -> None:
        assert socket.request is not None
        run = socket.request.path.encode()
        sockets.setdefault(run, set()).add(socket)
        async with one_at_a_time:
            await channel.subscribe(run)
        await socket.send("ready")
        await socket.wait_closed()
        sockets[run].discard(socket)

    async with serve(serve_one, "127.0.0.1", port, compression=None, ping_interval=None):
        await channel.subscribe("nothing yet")
        async for message in channel.listen():
            text = message["data"].decode()
            for socket in sockets.get(message["channel"], ()):
                await socket.send(text)


def say_all(tokens: int, rate: float, runs: list[int]) -> None:
    """Publish the tokens of all runs."""
    pipeline = redis.Redis.from_url(URL).pipeline(transaction=False)

    def say(run: int, token: str) -> None:
        pipeline.publish(f"/{run}", f'{{"run":{run},"text":"{token}"}}')

    def send() -> None:
        if len(pipeline):
            pipeline.execute()

    print("up", flush=True)
    sys.stdin.readline()
    keep_pace(runs, tokens, rate, say, send)
    print(time.process_time(), flush=True)


if sys.argv[1] == "serve":
    asyncio.run(relay(int(sys.argv[2])))
else:
    say_all(int(sys.argv[2]), float(sys.argv[3]), [int(run) for run in sys.argv[4:]])
