"""A model server on the wire that counts every token of a request, and refuses what is too many.

It counts on its own: each four letters, each mark, and the reply that is asked for as well.
"""

import json
import re
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

LENGTH = 8_192
_TOKENS = re.compile(r"[^\W_]{1,4}|[^\w\s]|_")

Entry = str | dict[str, Any] | Callable[[dict[str, Any]], str]
"""What is said: a text, a native call, or what is made of the request."""


class CountingServer(ThreadingHTTPServer):
    """Say the entries of a script, one for each request that fits.

    `tells` says in its list of models how many tokens it takes, `names` in its refusals.
    """

    daemon_threads = True

    def __init__(self, script: Sequence[Entry], *, tells: bool = True, names: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.tells, self.names = tells, names
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"
        self.counts: list[int] = []
        self.bodies: list[dict[str, Any]] = []
        self.refusals = 0
        self.questions = 0
        self.length = LENGTH

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: CountingServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.questions += 1
        entry: dict[str, Any] = {"id": "m", "object": "model"}
        if self.server.tells:
            entry["max_model_len"] = self.server.length
        self._send(200, json.dumps({"object": "list", "data": [entry]}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        count = _counted(body) + body["max_tokens"]
        if count > self.server.length:
            self.server.refusals += 1
            self._send(400, json.dumps({"error": {"message": self._refusal(count)}}))
            return
        self.server.counts.append(count)
        self.server.bodies.append(body)
        said = self.server.script.pop(0)
        said = said(body) if callable(said) else said
        chunks = [_chunk(said), {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
        events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        self._send(200, f"{events}data: [DONE]\n\n", "text/event-stream")

    def _refusal(self, count: int) -> str:
        if not self.server.names:
            return "context_length_exceeded: the request is too long for the model."
        return (
            f"This model's maximum context length is {self.server.length} tokens. However, you "
            f"requested {count} tokens. Please reduce the length of the messages."
        )

    def _send(self, status: int, body: str, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Keep the output clean."""


def _counted(body: dict[str, Any]) -> int:
    told = [json.dumps(body.get("tools", ""), ensure_ascii=False)]
    for message in body["messages"]:
        told.append(message["content"] or "")
        told.append(json.dumps(message.get("tool_calls", ""), ensure_ascii=False))
    return sum(len(_TOKENS.findall(text)) for text in told) + 4 * len(body["messages"])


def _chunk(said: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(said, str):
        return {"choices": [{"index": 0, "delta": {"content": said}}]}
    function = {"name": said["tool"], "arguments": json.dumps(said["inputs"])}
    call = {"index": 0, "id": f"call_{said['tool']}", "type": "function", "function": function}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
