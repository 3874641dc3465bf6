"""A model server that says the script at 50 tokens a second, in our text format or with tool calls.

The path says which: `/text/v1` or `/native/v1`. Which turn it is follows from the request alone:
the tool results, or the observations, that it holds. `GET /said` tells how many tokens were said in
all. All replies hang on one wheel that turns once
in 20 ms, each in the notch of the millisecond in which it was asked for.
"""

import asyncio
import json
import re
import sys
from functools import cache
from typing import Any

from tests.bench.running.script import (
    ANSWER_TOKENS,
    RATE,
    STEP_TOKENS,
    TOOL,
    TURNS,
    expression,
)

HEAD = re.compile(rb"POST /(native|text)/v1/chat/completions ")
LENGTH = re.compile(rb"(?i)content-length: *(\d+)")
START = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
NOTCHES = 20
TURN_SECONDS = 1 / RATE
"""The time of one turn of the wheel, in which each reply says one token."""


@cache
def reply(mode: str, turn: int) -> list[bytes]:
    """Return the tokens of one reply as they go over the line; the last one ends it."""
    is_last = turn >= TURNS
    deltas = in_text(turn, is_last) if mode == "text" else natively(turn, is_last)
    count = ANSWER_TOKENS if is_last else STEP_TOKENS
    deltas = [{"content": "so "}] * (count - len(deltas)) + deltas
    if mode == "text":
        deltas[0] = {"content": "Thought: "}
    usage = {"prompt_tokens": 100, "completion_tokens": count, "total_tokens": 100 + count}
    reason = "tool_calls" if "tool_calls" in deltas[-1] else "stop"
    ending = [choice({}, reason), CHUNK | {"choices": [], "usage": usage}]
    tokens = [framed(choice(delta)) for delta in deltas]
    done = b"data: [DONE]\n\n"
    tokens[-1] += b"".join(map(framed, ending)) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done)
    return tokens


def in_text(turn: int, is_last: bool) -> list[dict[str, Any]]:
    """Return the end of a turn that is written out, or a long answer."""
    if is_last:
        words = ["\nFinal ", "Answer: ", *["word "] * (ANSWER_TOKENS - 10), f"and {turn}."]
    else:
        inputs = ['{"expression"', f': "{expression(turn)}"', "}"]
        words = [f"\nAction: {TOOL}\n", "Action Input: ", *inputs]
    return [{"content": word} for word in words]


def natively(turn: int, is_last: bool) -> list[dict[str, Any]]:
    """Return the end of a turn that calls the tool, or of the answer."""
    if is_last:
        return [{"content": f"and {turn}."}]
    start = {"index": 0, "id": f"call_{turn}", "type": "function"}
    calls = [start | {"function": {"name": TOOL, "arguments": ""}}]
    inputs = ['{"expression"', f': "{expression(turn)}"', "}"]
    calls += [{"index": 0, "function": {"arguments": piece}} for piece in inputs]
    return [{"tool_calls": [call]} for call in calls]


def choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """Return a chunk with one delta."""
    return CHUNK | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def framed(chunk: dict[str, Any]) -> bytes:
    """Return a chunk as an event and a piece of the body."""
    event = f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


class Wheel:
    """Let each connection say its next token once in a turn."""

    def __init__(self) -> None:
        self._notches: list[dict[Connection, None]] = [{} for _ in range(NOTCHES)]
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self._done = 0
        self.said = 0

    def hang(self, connection: "Connection") -> None:
        """Let a connection speak from a turn of the wheel from now on."""
        connection.notch = (self._done - 1) % NOTCHES
        self._notches[connection.notch][connection] = None

    def drop(self, connection: "Connection") -> None:
        """Let a connection speak no more."""
        self._notches[connection.notch].pop(connection, None)

    async def turn(self) -> None:
        """Turn for ever; a notch that is late comes at once, and none is left out."""
        while True:
            due = int((self._loop.time() - self._start) / TURN_SECONDS * NOTCHES)
            while self._done < due:
                for connection in list(self._notches[self._done % NOTCHES]):
                    connection.speak()
                    self.said += 1
                self._done += 1
            await asyncio.sleep(TURN_SECONDS / NOTCHES)


class Connection(asyncio.Protocol):
    """One connection: a request in, its reply out token by token, and the next."""

    def __init__(self, wheel: Wheel) -> None:
        self.notch = 0
        self._wheel = wheel
        self._read = b""
        self._tokens: list[bytes] = []
        self._said = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to answer."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Say no more to a client that went away."""
        self._wheel.drop(self)

    def data_received(self, data: bytes) -> None:
        """Begin to answer when a request has come whole."""
        self._read += data
        end = self._read.find(b"\r\n\r\n")
        if end < 0:
            return
        head, length = self._read[:end], LENGTH.search(self._read, 0, end)
        whole = end + 4 + (int(length[1]) if length else 0)
        if len(self._read) < whole:
            return
        body, self._read = self._read[end + 4 : whole], self._read[whole:]
        path = HEAD.match(head)
        if path is None:
            said = b"%d" % self._wheel.said
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said) + said
            )
            return
        messages = json.loads(body)["messages"][1:]
        turn = sum(message["role"] == "tool" for message in messages)
        turn = turn or json.dumps(messages).count("Observation:")
        self._tokens, self._said = reply(path[1].decode(), turn), 0
        self._transport.write(START)
        self._wheel.hang(self)

    def speak(self) -> None:
        """Say the next token."""
        self._transport.write(self._tokens[self._said])
        self._said += 1
        if self._said == len(self._tokens):
            self._wheel.drop(self)


async def main() -> None:
    """Listen until the bench is over."""
    loop = asyncio.get_running_loop()
    wheel = Wheel()
    server = await loop.create_server(
        lambda: Connection(wheel), "127.0.0.1", int(sys.argv[1]), backlog=2048
    )
    turning = loop.create_task(wheel.turn())
    print("up", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    turning.cancel()
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
