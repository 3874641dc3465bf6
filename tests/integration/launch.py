"""A checkout of its own, and a launcher at work in it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("agents", "chat", "project", "static", "templates", "manage.py")
PROGRAMS = {
    "postgres": "/postgres",
    "valkey": "valkey-server",
    "web": "project.web",
    "worker": "celery",
}
MODEL = "project.local.model.serve"
"""The program of a model, where one is named."""
READY = re.compile(r"ready at (http://\S+)")


class Launch:
    """A launcher at work in a checkout, with everything it has written so far."""

    def __init__(self, checkout: Path, **environment: str) -> None:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "REDIS_URL", "ALLOWED_HOSTS", "HOST")
            and not name.startswith(("OPENAI_", "TURNSTONE_", "DJANGO_", "MODEL"))
        }
        defaults = {"PORT": "0", "TURNSTONE_LOCAL_SERVERS": "none"}
        self.checkout = checkout
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "project.local.start"],
            cwd=checkout,
            env=kept | defaults | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def output(self) -> str:
        """Return what it has written."""
        return "\n".join(self.lines)

    @property
    def url(self) -> str:
        """Return where it serves, "" before it says so."""
        found = READY.search(self.output)
        return found.group(1) if found else ""

    def family(self) -> list[psutil.Process]:
        """Return every process that it has started."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def part(self, name: str) -> psutil.Process:
        """Return the process of a part."""
        children = psutil.Process(self.process.pid).children()
        words = PROGRAMS.get(name, MODEL)
        return next(one for one in children if words in " ".join(one.cmdline()))

    def is_ready(self) -> bool:
        """Tell whether all its parts answer."""
        with suppress(OSError):
            return bool(json.loads(self.get("/readyz"))["ready"])
        return False

    def get(self, path: str) -> str:
        """Return a page."""
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:  # noqa: S310
            return str(answer.read().decode())

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(how)
        return self.finished()

    def finished(self) -> int:
        """Wait for its end, and return the exit code."""
        code = self.process.wait(40)
        self._reader.join(10)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))


def copy_of_the_checkout(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    return folder
