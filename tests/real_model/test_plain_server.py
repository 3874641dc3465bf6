"""The server without structured output is one: it refuses that, and passes on all else."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx2
import pytest

from tests.real_model.plain_server import plain_server


class _Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self._say(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        self._say(json.dumps([self.path, self.headers["Authorization"]]).encode())

    def _say(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Echo) as behind:
        threading.Thread(target=behind.serve_forever, daemon=True).start()
        with plain_server(f"http://127.0.0.1:{behind.server_port}") as place:
            yield place
        behind.shutdown()


def post(address: str, body: dict[str, object]) -> httpx2.Response:
    key = {"Authorization": "Bearer k"}
    return httpx2.post(f"{address}/v1/chat/completions", json=body, headers=key, trust_env=False)


def test_a_request_for_json_is_refused_by_the_name_of_what_is_not_known(address: str) -> None:
    refused = post(address, {"model": "m", "response_format": {"type": "json_object"}})

    assert refused.status_code == 400
    assert "'response_format' is not supported" in refused.json()["error"]["message"]


def test_any_other_request_is_passed_on(address: str) -> None:
    listed = httpx2.get(
        f"{address}/v1/models", headers={"Authorization": "Bearer k"}, trust_env=False
    )

    assert post(address, {"model": "m"}).json() == {"model": "m"}
    assert listed.json() == ["/v1/models", "Bearer k"]
