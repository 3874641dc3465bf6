"""A model server that speaks OpenAI's protocol: `python -m tests.chaos.model PORT FILE`.

FILE holds the replies of each story, {key: [text, ...]}. A request names its story in its last
question, and which reply comes next follows from it alone: the calls that it tells of. So a worker
that died asks anew and hears the same. Of every third reply the first request is refused with 429,
for this is what servers do when they are asked too much.
"""

import json
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

QUESTION = re.compile(r"Tell the story ([\w-]+)\.")
WORDS_A_SECOND = 40
PATIENCE_SECONDS = 1
EVERY = 3


class Teller(ThreadingHTTPServer):
    """Serve the stories of one file."""

    daemon_threads = True

    def __init__(self, port: int, file: Path) -> None:
        super().__init__(("127.0.0.1", port), _Asked)
        self._file = file
        self._stories: dict[str, list[str]] = {}
        self._refused: set[str] = set()

    def reply_to(self, messages: str) -> tuple[str, str]:
        """Return the name and the text of the reply that comes next."""
        key = QUESTION.findall(messages)[-1]
        if key not in self._stories:
            self._stories = json.loads(self._file.read_text())
        number = len(set(re.findall(rf"{re.escape(key)}\.(\d+)\b(?!:)", messages)))
        return f"{key}.{number}", self._stories[key][number]

    def asks_for_patience(self, name: str) -> bool:
        """Tell whether this request is refused for now."""
        is_new = name not in self._refused
        self._refused.add(name)
        return is_new and sum(name.encode()) % EVERY == 0


class _Asked(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Teller

    def do_POST(self) -> None:
        """Tell the reply that comes next, word by word."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = "\n".join(str(message["content"]) for message in asked["messages"])
        name, reply = self.server.reply_to(texts)
        if self.server.asks_for_patience(name):
            self._refuse()
        else:
            self._tell(reply)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _refuse(self) -> None:
        body = json.dumps({"error": {"message": "Too many requests", "code": "rate_limit"}})
        self.send_response(429)
        self.send_header("Retry-After", str(PATIENCE_SECONDS))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def _tell(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for word in re.findall(r"\S+\s*", text):
            self._event(_chunk({"content": word}))
            time.sleep(1 / WORDS_A_SECOND)
        self._event(_chunk({}, "stop"))
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, chunk: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())


def _chunk(delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "told", "object": "chat.completion.chunk", "choices": [choice]}


if __name__ == "__main__":
    Teller(int(sys.argv[1]), Path(sys.argv[2])).serve_forever()
