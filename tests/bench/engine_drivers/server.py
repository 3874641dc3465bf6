"""A server of scripted chat completions that answers at once, from bytes made beforehand.

The path says the script: `/k20/native/v1` has 20 turns that call the tool natively, `/k20/text/v1`
20 that write Thought, Action and Action Input. Which turn it is follows from the request alone:
the tool results, or the observations, that it holds.
"""

import asyncio
import json
import re
import sys
from functools import cache
from typing import Any

TOKENS = 20
HEAD = re.compile(rb"POST /k(\d+)/(native|text)/v1/chat/completions ")
LENGTH = re.compile(rb"(?i)content-length: *(\d+)")
START = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
USAGE = {"prompt_tokens": 100, "completion_tokens": 25, "total_tokens": 125}
CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}


@cache
def reply(turns: int, mode: str, turn: int, ends_by_tool: bool) -> bytes:
    """Return the whole answer of one turn."""
    if mode == "text":
        deltas = [{"content": text} for text in in_text(turn, turn >= turns)]
    else:
        deltas = natively(turn, turn >= turns, ends_by_tool)
    last = "tool_calls" if "tool_calls" in deltas[-1] else "stop"
    chunks = [choice({"role": "assistant", "content": ""}), *map(choice, deltas)]
    chunks += [choice({}, last), CHUNK | {"choices": [], "usage": USAGE}]
    events = [f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n".encode() for chunk in chunks]
    framed = b"".join(b"%x\r\n%s\r\n" % (len(e), e) for e in [*events, b"data: [DONE]\n\n"])
    return START + framed + b"0\r\n\r\n"


def in_text(turn: int, is_last: bool) -> list[str]:
    """Return the pieces of a turn that is written out."""
    if is_last:
        return ["Thought: ", *["tok "] * TOKENS, "\nFinal ", "Answer: ", "It ", "is ", f"{turn}."]
    inputs = ['{"a": ', str(turn), ', "b": 1}']
    return ["Thought: ", *["tok "] * TOKENS, "\nAction: add\n", "Action Input: ", *inputs]


def natively(turn: int, is_last: bool, ends_by_tool: bool) -> list[dict[str, Any]]:
    """Return the deltas of a turn that calls a tool, or of the answer."""
    said: list[dict[str, Any]] = [{"content": "tok "} for _ in range(TOKENS)]
    if is_last and not ends_by_tool:
        return [*said, *({"content": text} for text in ("It ", "is ", str(turn), ".", ""))]
    name, inputs = "add", ['{"a"', f": {turn}", ', "b"', ": 1}"]
    if is_last:
        name, inputs = "final_answer", ['{"answer"', ': "It is', f" {turn}.", '"}']
    start = {"index": 0, "id": f"call_{turn}", "type": "function"}
    calls = [start | {"function": {"name": name, "arguments": ""}}]
    calls += [{"index": 0, "function": {"arguments": piece}} for piece in inputs]
    return [*said, *({"tool_calls": [call]} for call in calls)]


def choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """Return a chunk with one delta."""
    return CHUNK | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


class Connection(asyncio.Protocol):
    """One connection: requests in, scripted answers out."""

    def __init__(self) -> None:
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to answer."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that has come whole."""
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head, length = self._read[:end], LENGTH.search(self._read, 0, end)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._read) < whole:
                return
            body, self._read = self._read[end + 4 : whole], self._read[whole:]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        path = HEAD.match(head)
        if path is None:
            self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        asked = json.loads(body)
        messages = asked["messages"][1:]
        turn = sum(message["role"] == "tool" for message in messages)
        turn = turn or json.dumps(messages).count("Observation:")
        names = {offered["function"]["name"] for offered in asked.get("tools") or ()}
        self._transport.write(reply(int(path[1]), path[2].decode(), turn, "final_answer" in names))


async def main() -> None:
    """Listen until the bench is over."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
    await loop.run_in_executor(None, input_ends)
    server.close()


def input_ends() -> None:
    """Wait until the bench closes our input."""
    sys.stdin.read()


if __name__ == "__main__":
    asyncio.run(main())
