"""A server of models that refuses structured output, as some do; another answers for it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

REFUSED = {"error": {"message": "'response_format' is not supported by this server", "code": 400}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    behind: str

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that hang up, as they do when a run is stopped."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "response_format" in json.loads(body):
            self._say(400, "application/json", json.dumps(REFUSED).encode())
            return
        url, headers = self.server.behind + self.path, {"Content-Type": "application/json"}
        headers["Authorization"] = self.headers["Authorization"]
        with (
            httpx2.Client(trust_env=False, timeout=None) as client,
            client.stream("POST", url, content=body, headers=headers) as answer,
        ):
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.end_headers()  # HTTP/1.0: it ends with the connection
            for piece in answer.iter_raw():
                self.wfile.write(piece)
                self.wfile.flush()

    def do_GET(self) -> None:
        url, headers = self.server.behind + self.path, {}
        if "Authorization" in self.headers:
            headers["Authorization"] = self.headers["Authorization"]
        answer = httpx2.get(url, headers=headers, trust_env=False, timeout=30)
        self._say(answer.status_code, answer.headers["Content-Type"], answer.content)

    def _say(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


@contextmanager
def plain_server(behind: str) -> Iterator[str]:
    """Serve for the length of a block what the server at `behind` says, and give the address."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.behind = behind
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
