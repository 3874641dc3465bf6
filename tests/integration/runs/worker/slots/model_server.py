"""A model server that answers when told to, and knows who asked it at once."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """A model server that answers when told to, and knows which models it was asked at once."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"
        self.may_answer = threading.Event()
        self.under_way: list[str] = []
        self.seen: list[list[str]] = []
        self.lock = threading.Lock()
        self.limited = 0
        """How many requests are still answered with 429."""
        self.fails_with = 0
        """The status of every answer, 0 for a good one."""
        self.breaks_off = False
        """Whether each reply ends after its first token."""
        self.keys: list[str | None] = []


def serving() -> Iterator[Server]:
    """Serve for the length of a fixture."""
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.may_answer.set()
    server.shutdown()
    server.server_close()


class _Answer(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.append(self.headers["Authorization"])
        if self.server.fails_with:
            self.send_response(self.server.fails_with)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        with self._counted(asked["model"]):
            if self.server.limited:
                self.server.limited -= 1
                self.send_response(429)
                self.send_header("Retry-After", "1")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.server.may_answer.wait(30)
        choice = {"index": 0, "delta": {"content": "Final Answer: 4"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        whole = {"choices": [choice], "usage": usage}
        said = f"data: {json.dumps(whole)}\n\ndata: [DONE]\n\n".encode()
        if self.server.breaks_off:
            said = said.partition(b"\n\n")[0].replace(b'"stop"', b"null") + b"\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    @contextmanager
    def _counted(self, model: str) -> Iterator[None]:
        with self.server.lock:
            self.server.under_way.append(model)
            self.server.seen.append(sorted(self.server.under_way))
        yield
        with self.server.lock:
            self.server.under_way.remove(model)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""
