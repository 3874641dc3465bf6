"""N cheap sockets: frames are cut out of the bytes by hand, so that the load stays light.

Reads one JSON line: dialect (turnstone, floor or chainlit), port, tokens, and for each socket its
path, headers and greeting. Prints `ready`, starts at the next line, and prints the figures as JSON.
"""

import asyncio
import base64
import json
import os
import re
import struct
import sys
import time
import uuid
from datetime import UTC, datetime
from typing import Any

TOKEN = re.compile(rb"(\d{10,20});")
READY = {"turnstone": b"caught_up", "floor": b"ready", "chainlit": b"40{"}
QUIET_SECONDS = 8
MAX_SECONDS = 90
AT_ONCE = 50


class Tally:
    """The tokens of all sockets: how late each was, in ns, and when the first and last came."""

    def __init__(self) -> None:
        self.delays: list[int] = []
        self.first = 0
        self.last = 0


class Socket(asyncio.Protocol):
    """One WebSocket client, without checks that a load does not need."""

    def __init__(self, tally: Tally, dialect: str, target: dict[str, Any], port: int) -> None:
        self._tally = tally
        self._dialect = dialect
        self._target = target
        self._port = port
        self._bytes = b""
        self._is_open = False
        self.is_ready = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {self._target['path']} HTTP/1.1",
            f"Host: 127.0.0.1:{self._port}",
            f"Origin: http://127.0.0.1:{self._port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            *self._target.get("headers", ()),
        ]
        transport.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self._bytes += data
        if not self._is_open:
            head, separator, rest = self._bytes.partition(b"\r\n\r\n")
            if not separator:
                return
            if b" 101 " not in head[:20]:
                sys.exit(f"The server refused: {head[:200]!r}")
            self._is_open, self._bytes = True, rest
            if "hello" in self._target:
                self.send(self._target["hello"])
        self._cut(now)

    def send(self, text: str) -> None:
        """Send a text frame, masked as a client must."""
        body = text.encode()
        length = len(body)
        head = bytes([0x81, 0x80 | length])
        if length > 125:
            head = bytes([0x81, 0x80 | 126]) + struct.pack("!H", length)
        self._transport.write(head + bytes(4) + body)

    def start(self) -> None:
        """Ask for tokens where the server is what makes them."""
        if self._dialect == "chainlit":
            message = {
                "id": str(uuid.uuid4()),
                "threadId": "",
                "name": "user",
                "type": "user_message",
                "input": "",
                "output": "go",
                "createdAt": datetime.now(UTC).isoformat(),
            }
            content = {"message": message, "fileReferences": []}
            self.send("42" + json.dumps(["client_message", content]))

    def _cut(self, now: int) -> None:
        data, position = self._bytes, 0
        while len(data) - position >= 2:
            length, head = data[position + 1] & 127, 2
            if length == 126:
                head = 4
            elif length == 127:
                head = 10
            if len(data) - position < head:
                break
            if head > 2:
                length = int.from_bytes(data[position + 2 : position + head], "big")
            if len(data) - position < head + length:
                break
            self._take(data[position + head : position + head + length], now)
            position += head + length
        self._bytes = data[position:]

    def _take(self, body: bytes, now: int) -> None:
        said = TOKEN.findall(body)
        if said:
            tally = self._tally
            tally.first = tally.first or now
            tally.last = now
            tally.delays += [now - int(token) for token in said]
        if self._dialect == "chainlit":
            self._talk(body)
        if not self.is_ready and READY[self._dialect] in body:
            self.is_ready = True

    def _talk(self, body: bytes) -> None:
        if body[:1] == b"0":
            session = {"sessionId": str(uuid.uuid4()), "clientType": "webapp", "userEnv": "{}"}
            self.send("40" + json.dumps(session | {"chatProfile": "", "threadId": ""}))
        elif body == b"2":
            self.send("3")
        elif body[:2] == b"40":
            self.send('42["connection_successful"]')


async def main() -> None:
    """Connect, wait for the start, listen until all is there or nothing comes any more."""
    order = json.loads(sys.stdin.readline())
    tally = Tally()
    sockets = await connect_all(order, tally)
    await asyncio.sleep(1)  # Chainlit goes on greeting after it has said that it is ready
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.readline)
    for socket in sockets:
        socket.start()
    wanted = len(sockets) * order["tokens"]
    began = time.monotonic()
    while len(tally.delays) < wanted and time.monotonic() - began < MAX_SECONDS:
        await asyncio.sleep(0.05)
        if time.monotonic_ns() - (tally.last or time.monotonic_ns()) > QUIET_SECONDS * 1e9:
            break
    print(json.dumps(figures(tally, wanted)), flush=True)


async def connect_all(order: dict[str, Any], tally: Tally) -> list[Socket]:
    """Open the sockets, so many at once."""
    gate = asyncio.Semaphore(AT_ONCE)
    loop = asyncio.get_running_loop()
    port = order["port"]

    async def connect(target: dict[str, Any]) -> Socket:
        async with gate:
            _, socket = await loop.create_connection(
                lambda: Socket(tally, order["dialect"], target, port), "127.0.0.1", port
            )
            await until(lambda: socket.is_ready, "a socket to be ready")
            return socket

    return list(await asyncio.gather(*(connect(target) for target in order["targets"])))


async def until(is_so: Any, what: str) -> None:
    """Wait for something, for a minute at most."""
    deadline = time.monotonic() + 60
    while not is_so():
        if time.monotonic() > deadline:
            sys.exit(f"Waited in vain for {what}.")
        await asyncio.sleep(0.02)


def figures(tally: Tally, wanted: int) -> dict[str, float]:
    """Return what was delivered, how late in ms, and what was lost."""
    delays = sorted(tally.delays) or [0]
    seconds = max(tally.last - tally.first, 1) / 1e9
    return {
        "got": len(tally.delays),
        "lost": wanted - len(tally.delays),
        "delivered": len(tally.delays) / seconds,
        "p50": delays[len(delays) // 2] / 1e6,
        "p99": delays[min(len(delays) - 1, len(delays) * 99 // 100)] / 1e6,
        "client_cpu": time.process_time(),
    }


asyncio.run(main())
