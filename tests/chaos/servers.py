"""Everything that Turnstone runs on, as processes of our own that may be killed and come back."""

import json
import os
import random
import secrets
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

import psutil
import redis

from project.local import programs
from project.local.embedded import DATABASE, ROLE, VALKEY_SOCKET, short_folder
from project.local.postgres import Postgres
from project.local.processes import Child, Program, start, stop
from project.local.valkey import Valkey

ROOT = Path(__file__).resolve().parents[2]
WEBS = ("daphne", "uvicorn")
WORKERS = 2
READY_SECONDS = 60
PATIENCE = 30.0
"""Seconds that a program gets to end after it was asked to."""

SETTLING_SECONDS = 4.0
"""How long a program mostly lives, its start included, before it is struck again."""

MAX_AWAY = 2.5
FROZEN = (0.5, 9.0)
"""Seconds that a frozen process stands still: at times for longer than its lease."""


class Server:
    """One program that is kept running, as systemd would, but for when it is meant to be away."""

    def __init__(self, name: str, program: Callable[[], Program], log: TextIO) -> None:
        self.name = name
        self._program = program
        self._log = log
        self._child: Child | None = None
        self._due = 0.0
        self._asked_at: float | None = None
        self._thaws_at: float | None = None
        self._started_at = 0.0
        self.longest_stop = 0.0
        self.late = 0

    @property
    def is_up(self) -> bool:
        """Tell whether it runs and nobody has asked it to end."""
        return self.is_running and self._asked_at is None and self._thaws_at is None

    @property
    def is_settled(self) -> bool:
        """Tell whether it has been up for long enough to be of use."""
        return self.is_up and time.monotonic() - self._started_at > SETTLING_SECONDS

    @property
    def pid(self) -> int:
        """Return the pid of the running program."""
        assert self._child is not None
        return self._child.pid

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.code is None

    def tend(self) -> None:
        """Start it if it is due, thaw it, and kill it if it does not end when asked to."""
        now = time.monotonic()
        if self._thaws_at is not None and now >= self._thaws_at:
            self.thaw()
        if self._asked_at is not None:
            self._await_its_end(now)
        if not self.is_running and now >= self._due:
            self._child = start(self._program(), self._note)
            self._started_at = now
            self._due = now + 1.0  # a server that dies at its start is tried again, not at once

    def kill(self, away: float) -> None:
        """End it as a power cut does."""
        self.thaw()
        assert self._child is not None
        self._child.kill()
        self._asked_at = None
        self._due = time.monotonic() + away

    def ask_to_stop(self, away: float, number: signal.Signals | None = None) -> None:
        """End it as a deployment does."""
        self._asked_at = time.monotonic()
        self._due = self._asked_at + away
        assert self._child is not None
        if number is None:
            self._child.ask_to_stop()
        else:
            self.signal(number)

    def freeze(self, seconds: float) -> None:
        """Let it stand still, as a machine that swaps or a virtual one that is moved."""
        self._thaws_at = time.monotonic() + seconds
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        if self._thaws_at is not None:
            self._thaws_at = None
            self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def end(self) -> None:
        """End it for good."""
        self.thaw()
        if self._child is not None:
            stop([self._child], PATIENCE)

    def _await_its_end(self, now: float) -> None:
        assert self._asked_at is not None
        if not self.is_running:
            self.longest_stop = max(self.longest_stop, now - self._asked_at)
            self._asked_at = None
        elif now - self._asked_at > PATIENCE:
            self.late += 1
            self.signal(signal.SIGABRT)  # Python then says where it was
            time.sleep(0.5)
            self.kill(0)

    def _note(self, name: str, line: str) -> None:
        self._log.write(f"{time.time():.3f} {self.name} | {line}\n")


class Servers:
    """Postgres, Valkey, a web of each server and two workers to be struck; tools and a model."""

    def __init__(self, folder: Path, log: TextIO, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.marks = folder / "marks"
        self.marks.touch()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._marks_port, self._model_port = _free_port(), _free_port()
        self.stories = folder / "stories.json"
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.environment = self._environment(settings)
        self._postgres = Postgres(folder / "postgres", folder, folder / "postgres.log")
        self._valkey = Valkey(folder / "valkey", folder, folder / "valkey.log")
        self.postgres = Server("postgres", self._postgres.program, log)
        self.redis = Server("redis", self._valkey.program, log)
        self.webs = [
            Server(f"web{n}", partial(self._web, server), log) for n, server in enumerate(WEBS)
        ]
        self.workers = [Server(f"worker{n}", self._worker, log) for n in range(WORKERS)]
        self.tools = Server("marks", self._effects, log)
        self.model = Server("model", self._teller, log)

    @property
    def all(self) -> list[Server]:
        """Return every server."""
        return [self.postgres, self.redis, self.tools, self.model, *self.ours]

    @property
    def ours(self) -> list[Server]:
        """Return the servers that are our own programs."""
        return [*self.webs, *self.workers]

    @property
    def may_be_asked(self) -> bool:
        """Tell whether a page can learn what is stored: Redis may be away, the others not."""
        return all(server.is_settled for server in (self.postgres, *self.webs))

    def start_stores(self) -> None:
        """Start what holds data, and the tools."""
        self._postgres.create()
        for server in (self.postgres, self.redis, self.tools, self.model):
            server.tend()
        self.wait(lambda: self._postgres.is_ready() and self._valkey.is_ready(), "the stores")

    def tend(self) -> None:
        """Look after all servers once."""
        for server in self.all:
            server.tend()

    def wait(self, is_seen: Callable[[], bool], what: str) -> None:
        """Tend the servers until it is seen."""
        deadline = time.monotonic() + READY_SECONDS
        while not is_seen():
            if time.monotonic() > deadline:
                raise TimeoutError(f"Waited {READY_SECONDS} s in vain for {what}.")
            self.tend()
            time.sleep(0.05)

    def are_ready(self) -> bool:
        """Tell whether all servers run and the stores answer."""
        up = all(server.is_up for server in self.all)
        return up and self._postgres.is_ready() and self._valkey.is_ready()

    def lose_redis(self, away: float) -> None:
        """Kill Redis and take its data away."""
        self.redis.kill(away)
        shutil.rmtree(self._valkey.data)

    def kill_backend(self, chance: random.Random) -> None:
        """Kill one of Postgres' own processes, which makes it recover from a crash."""
        with suppress(psutil.Error, IndexError):
            children = psutil.Process(self.postgres.pid).children(recursive=True)
            os.kill(chance.choice(children).pid, signal.SIGKILL)

    def end(self) -> None:
        """End everything."""
        for server in reversed(self.all):
            server.end()
        self._socket.close()

    def _environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        named = ("OPENAI_", "ANTHROPIC_", "GEMINI_", "OLLAMA_", "TURNSTONE_")
        kept = {name: told for name, told in os.environ.items() if not name.startswith(named)}
        servers = self.folder / "mcp.json"
        marks = {"url": f"http://127.0.0.1:{self._marks_port}/mcp", "reaches_out": False}
        servers.write_text(json.dumps({"mcpServers": {"marks": marks}}))
        return kept | {
            "DATABASE_URL": f"postgres://{ROLE}@/{quote(str(self.folder))}/{DATABASE}",
            "REDIS_URL": f"unix://{quote(str(self.folder / VALKEY_SOCKET))}?db=0",
            "TURNSTONE_ARTIFACTS": str(self.folder / "artifacts"),
            "SECRET_KEY": secrets.token_hex(),
            "DATABASE_POOL": "8",
            "TURNSTONE_LOCAL_SERVERS": "none",
            "TURNSTONE_MCP": str(servers),
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self._model_port}/v1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONFAULTHANDLER": "1",
            "PYTHONWARNINGS": "ignore:You're running the worker",
            **settings,
        }

    def _web(self, server: str) -> Program:
        descriptor = self._socket.fileno()
        environment = {**self.environment, "TURNSTONE_SERVER": server}
        program = programs.web(("--fd", str(descriptor)), environment)
        return replace(program, descriptors=(descriptor,))

    def _worker(self) -> Program:
        return programs.worker(self.environment)

    def _effects(self) -> Program:
        return self._beside("marks", "effects", self._marks_port, self.marks)

    def _teller(self) -> Program:
        return self._beside("model", "model", self._model_port, self.stories)

    def _beside(self, name: str, module: str, port: int, file: Path) -> Program:
        command = (sys.executable, "-m", f"tests.chaos.{module}", str(port), str(file))
        return Program(name, command, ROOT, self.environment)


@contextmanager
def servers(settings: Mapping[str, str], log: TextIO) -> Iterator[Servers]:
    """Start the stores in a folder of their own, and leave nothing when the block is over."""
    folder = short_folder()
    running = Servers(folder, log, settings)
    try:
        running.start_stores()
        yield running
    finally:
        running.end()
        shutil.rmtree(folder, ignore_errors=True)


def is_redis_well(url: str) -> bool:
    """Tell whether Redis answers."""
    try:
        return bool(redis.Redis.from_url(url, socket_timeout=1).ping())
    except redis.RedisError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
