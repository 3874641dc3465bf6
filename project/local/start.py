"""Start all of Turnstone from a checkout, and stop all of it on one Ctrl-C: `make run`.

It is the parent of everything it starts: the private Postgres and Valkey where DATABASE_URL or
REDIS_URL is unset, the model that MODEL names, a web server, and a Celery worker. Whatever ends it,
they end too. Of these only Postgres ends it by its own death; the others are started anew.
"""

import errno
import fcntl
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TextIO

import environ

from agents.flag import Flag
from project.errors import CannotStart
from project.local import disk, embedded, ports, programs
from project.local.keeping import Part
from project.local.model.server import ModelServer, model_server
from project.local.ports import Address
from project.local.postgres import Postgres, last_words
from project.local.processes import Program, start, stop
from project.local.terminal import Terminal
from project.local.valkey import Valkey

ROOT = programs.ROOT
LOCAL = ROOT / ".local"
LOGS = LOCAL / "log"
OWN_IT = f"start as the user who owns {LOCAL}, or give that folder to yours."
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_SECONDS = 0.05
IDLE_SECONDS = 0.5
READY_SECONDS = 60
LOADING_SECONDS = 600
PATIENCE = 15


class Stopping(Exception):
    """Raised to leave the start because somebody asked for the end."""


def main() -> int:
    """Run Turnstone until it is told to stop; return the exit code."""
    try:
        environ.Env.read_env(ROOT / ".env")
        embedded.make_private(LOCAL)
        with _only_one():
            return Launcher().run()
    except CannotStart as error:
        print(f"turnstone: {disk.explain(str(error), LOCAL)}", file=sys.stderr)
    except PermissionError as error:
        print(f"turnstone: {error.filename} is somebody else's: {OWN_IT}", file=sys.stderr)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise
        print(f"turnstone: {disk.explain(str(error), LOCAL)}", file=sys.stderr)
    return 1


class Launcher:
    """Start the parts in order, watch them, and stop them in the opposite order."""

    def __init__(self) -> None:
        self._asked = Flag()
        self._terminal = Terminal(when_gone=self._asked.set)
        self._servers: list[Part] = []
        self._programs: list[Part] = []
        self._model: ModelServer | None = None
        self._is_up = False
        self._ends = 0

    def run(self) -> int:
        """Start everything, wait for the end of it, and return the exit code."""
        for name in STOP_SIGNALS:
            signal.signal(name, self._on_signal)
        try:
            self._start()
            while True:
                self._look(IDLE_SECONDS)
        except Stopping:
            self._terminal.tell("Stopping ...")
            return 0
        finally:
            self._stop()

    def _start(self) -> None:
        address = ports.choose(os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000"))
        disk.require_room(LOCAL)
        LOGS.mkdir(mode=0o700, exist_ok=True)
        os.environ.update(HOST=address.host, PORT=str(address.port))
        os.environ.setdefault("ALLOWED_HOSTS", ",".join(address.names()))
        if os.environ.get("MODEL"):
            self._model = model_server(os.environ["MODEL"], LOGS / "model.log")
        self._start_servers()
        prepared = self._prepare()
        bind = ("--host", address.number, "--port", str(address.port))
        for program in (partial(programs.web, bind), programs.worker):
            self._programs.append(self._part(partial(program, _environment())))
        self._wait(lambda: _is_ready(address), READY_SECONDS, "answer of /readyz")
        self._is_up = True
        if self._model is not None:
            prepared["model"] = self._model.in_words()
        self._terminal.tell(_greeting(address, prepared))

    def _start_servers(self) -> None:
        waits: list[tuple[Callable[[], bool], int, str]] = []
        if not os.environ.get("DATABASE_URL"):
            postgres = Postgres(LOCAL / "postgres", _sockets(), LOGS / "postgres.log")
            if not postgres.data.exists():
                self._terminal.tell("Making a private Postgres in .local ...")
            postgres.create()
            self._servers.append(self._part(postgres.program, may_return=False))
            waits.append((postgres.is_ready, READY_SECONDS, "start of Postgres"))
        if not os.environ.get("REDIS_URL"):
            valkey = Valkey(LOCAL / "valkey", _sockets(), LOGS / "valkey.log")
            self._servers.append(self._part(valkey.program))
            waits.append((valkey.is_ready, READY_SECONDS, "start of Valkey"))
        if self._model is not None:
            os.environ.update(self._model.settings(os.environ))  # of this run only
            self._terminal.tell(f"Loading the model {self._model.name} ...")
            self._servers.append(self._part(self._model.program))
            waits.append((self._model.is_ready, LOADING_SECONDS, f"loading of {self._model.name}"))
        for is_ready, seconds, what in waits:
            self._wait(is_ready, seconds, what)

    def _part(self, program: Callable[[], Program], may_return: bool = True) -> Part:
        return Part(program, self._terminal.say, may_return)

    def _prepare(self) -> dict[str, str]:
        command = (sys.executable, "-m", "project.local.prepare")
        log = LOGS / "prepare.log"
        child = start(Program("prepare", command, ROOT, log=log), self._terminal.say)
        try:
            self._wait(lambda: child.code is not None, READY_SECONDS * 5, "database's migration")
        finally:
            child.kill()
        if child.code != 0:
            raise CannotStart(last_words(log).removeprefix("ERROR: "))
        prepared: dict[str, str] = json.loads(log.read_text().splitlines()[-1])
        return prepared

    def _wait(self, is_seen: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait until it is seen while all parts live; raise CannotStart after `seconds`."""
        deadline = time.monotonic() + seconds
        while not is_seen():
            self._look(LOOK_SECONDS)
            if time.monotonic() > deadline:
                raise CannotStart(f"Waited {seconds:.0f} s in vain for the {what}; see {LOGS}.")

    def _look(self, seconds: float) -> None:
        """Let `seconds` pass; raise Stopping if asked to, CannotStart if a part is gone."""
        self._terminal.notice()
        if self._asked.wait(seconds):
            raise Stopping
        for part in (*self._servers, *self._programs):
            death = part.look(self._is_up)
            if death:
                self._terminal.tell(f"{death}. It was started anew; runs go on.")

    def _stop(self) -> None:
        for parts in (self._programs, self._servers):
            late = stop([part.child for part in parts], PATIENCE)
            if late:
                self._terminal.tell(f"Had to kill what did not stop: {', '.join(late)}.")

    def _on_signal(self, number: int, frame: object) -> None:
        self._ends += 1
        self._asked.set()
        if self._ends > 1:
            for part in self._programs:
                part.child.kill()


def _only_one() -> TextIO:
    """Hold this folder for one launcher; the kernel lets go of it however the launcher ends."""
    lock = (LOCAL / "launcher.lock").open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CannotStart(
            "Turnstone already runs in this folder: stop it there with Ctrl-C, "
            "or start a second copy from a folder of its own with `make run PORT=8001`."
        ) from None
    return lock


def _sockets() -> Path:
    return embedded.make_sockets(LOCAL)


def _environment() -> dict[str, str]:
    # Celery warns of root at length, which on a person's own machine is their choice.
    quiet = "ignore:You're running the worker"
    return {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": quiet}


def _is_ready(address: Address) -> bool:
    try:
        # Never by a proxy that the environment may name.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address.url + "/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _greeting(address: Address, prepared: dict[str, str]) -> str:
    lines = ["", f"  Turnstone is ready at {address.url}"]
    if address.is_public:
        others = [f"http://{name}:{address.port}" for name in address.names()]
        lines.append(f"  Other machines can reach it too: {', '.join(others)}")
        lines.append("  Whoever is between can read along, passwords too, for this is plain HTTP:")
        lines.append("  stay in a network that you trust, or put a proxy with HTTPS in front.")
    if prepared["username"]:
        password = (LOCAL / "demo-password").read_text().strip()
        lines.append(f"  Sign in as {prepared['username']} with the password {password}")
    else:
        lines.append("  Sign in with your own account (manage.py createsuperuser makes one).")
    if prepared["model"]:
        lines.append(f"  Answers come from {prepared['model']}.")
    else:
        lines.append("  The built-in demo model answers: rule-based, for a first look. For a real")
        lines.append("  one set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or run Ollama")
        lines.append("  or another local server (README), or start with `make run MODEL=smollm2`.")
    lines.append("  Ctrl-C stops everything; what was said is kept in .local.")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
