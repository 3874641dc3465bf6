"""A model server on the wire whose models each fail in their own way, by name."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

SSE = "text/event-stream"
THOUGHT = "Thought: I have an idea, it is "
SILENCE_SECONDS = 120.0


class ModelServer(ThreadingHTTPServer):
    """Answer each call as the model's name says; `under_way` counts the calls by model.

    `mute` answers nothing at all, `breaks off` falls silent after its first words, `endless` never
    stops, `busy` asks for patience, `quick` answers. `/page` is a page that never comes.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.place = f"127.0.0.1:{self.server_port}"
        self.under_way: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep the output clean of clients that went away, which is what is tested."""


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_GET(self) -> None:
        self._counted("page")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._counted(asked["model"])

    def _counted(self, model: str) -> None:
        with self.server.lock:
            self.server.under_way[model] += 1
            self.server.asked[model] += 1
        try:
            getattr(self, "_" + model.replace(" ", "_"))()
        except OSError:
            self.close_connection = True
        finally:
            with self.server.lock:
                self.server.under_way[model] -= 1

    def _page(self) -> None:
        self._until_they_leave()

    def _mute(self) -> None:
        self._until_they_leave()

    def _breaks_off(self) -> None:
        self._begin()
        self._say(THOUGHT)
        self._until_they_leave()

    def _endless(self) -> None:
        self._begin()
        self._say(THOUGHT)
        pause = threading.Event()
        while not pause.wait(0.02):
            self._say("word ")

    def _busy(self) -> None:
        self.send_response(503)
        self.send_header("Retry-After", "60")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _quick(self) -> None:
        self._begin()
        self._say("Thought: easy\nFinal Answer: 4")
        done = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        self.wfile.write(f"data: {json.dumps(done)}\n\ndata: [DONE]\n\n".encode())

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", SSE)
        self.send_header("Connection", "close")
        self.end_headers()

    def _say(self, text: str) -> None:
        said = {"choices": [{"index": 0, "delta": {"content": text}}]}
        self.wfile.write(f"data: {json.dumps(said)}\n\n".encode())
        self.wfile.flush()

    def _until_they_leave(self) -> None:
        self.connection.settimeout(SILENCE_SECONDS)
        self.rfile.read(1)

    def log_message(self, *_: object) -> None:
        """Keep the output clean."""
