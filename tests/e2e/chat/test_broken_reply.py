"""A reply that breaks off half-way is asked for again, and the page says what no longer counts."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from agents.policies.spec import PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Policy, User
from tests.e2e.asking import ask


class BreakingServer:
    """A model server whose first reply breaks off and whose second is whole, each when told to."""

    def __init__(self, first: str) -> None:
        self.breaks, self.answers = threading.Event(), threading.Event()
        self.asked = 0
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                model.asked += 1
                if model.asked == 1:
                    self._say(first)
                    model.breaks.wait(60)
                    return
                model.answers.wait(60)
                self._say("Thought: I know.\nFinal Answer: Of rock.", finish_reason="stop")

            def _say(self, text: str, **choice: Any) -> None:
                chunk = {"choices": [{"index": 0, "delta": {"content": text}, **choice}]}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        """Let go of who still waits, and end."""
        self.breaks.set()
        self.answers.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server(first: str) -> Iterator[BreakingServer]:
    """Serve a model that breaks off in what it says first."""
    server = BreakingServer(first)
    yield server
    server.close()


@pytest.mark.parametrize(
    ("first", "part"),
    [
        ("Thought: the moon is made of green cheese", ".turn__thought"),
        ("Thought: easy\nFinal Answer: Of green cheese, and of", ".run__answer"),
    ],
)
def test_what_was_shown_of_it_is_grey_until_it_is_written_anew(
    page: Page, ada: User, server: BreakingServer, first: str, part: str
) -> None:
    model = ModelChoice(provider="openai", model="m", base_url=server.url)
    Policy.objects.create(slug="breaking", name="Breaking").publish(
        PolicySpec(policy="explicit", model=model)
    )
    page.goto("/")
    ask(page, "What is the moon made of?", "breaking")
    expect(page.locator(part).first).to_contain_text("green cheese")

    server.breaks.set()

    expect(page.locator(f"{part}.outdated")).to_contain_text("green cheese")
    server.answers.set()
    expect(page.locator(".run__answer")).to_have_text("Of rock.")
    expect(page.locator(".outdated")).to_have_count(0)
    expect(page.locator(".turn__thought").first).to_contain_text("I know.")
    assert server.asked == 2
