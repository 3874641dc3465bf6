"""A real worker in a process of its own, whose ways to Postgres and Redis can be disturbed."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

from project.local import programs
from project.local.processes import Child, start, stop
from tests.worker_stage.model_server import ModelServer
from tests.worker_stage.proxy import Address, Proxy

THREADS = 6
LEASE_SECONDS = 3
GRACE_SECONDS = 2


@dataclass
class Stage:
    """The model server, the ways to the stores, and the worker that uses them."""

    models: ModelServer
    postgres: Proxy
    redis: Proxy
    calls: Path
    environment: Mapping[str, str]
    log: Path
    child: Child | None = None

    def start_worker(self) -> None:
        """Start the worker unless it runs."""
        if self.child is None or self.child.code is not None:
            self.child = start(programs.worker(self.environment), self._note)

    def kill_worker(self) -> None:
        """End the worker as a power cut does."""
        assert self.child is not None
        self.child.kill()

    def ask_worker_to_stop(self) -> None:
        """Ask the worker to stop, as a deployment does."""
        assert self.child is not None
        self.child.ask_to_stop()

    def end(self) -> None:
        """End the worker."""
        if self.child is not None:
            stop([self.child], patience=15)

    def heal(self) -> None:
        """Let everything be as it should."""
        self.postgres.heal()
        self.redis.heal()
        self.start_worker()

    def tool_calls(self) -> int:
        """Return how many calls of the slow tool have begun."""
        return len(self.calls.read_text().splitlines())

    def looks(self) -> list[str]:
        """Return for how long each call of the tool that only looks was to look, in order."""
        calls = self.calls.read_text().splitlines()
        return [call.removeprefix("look ") for call in calls if call.startswith("look ")]

    def is_mute(self) -> bool:
        """Tell whether the MCP server that says nothing has been started."""
        return self.calls.with_name("mute").exists()

    def _note(self, name: str, line: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{name} | {line}\n")


@contextmanager
def stage(folder: Path, database: str, redis: str, **settings: str) -> Iterator[Stage]:
    """Give a stage for the length of a block; the worker begins with `start_worker`."""
    calls, mcp = folder / "calls", folder / "mcp.json"
    calls.touch()
    tools = [str(Path(__file__).with_name("slow_tools.py")), str(calls)]
    slow = {"command": sys.executable, "args": tools}
    mute = slow | {"args": [*tools, str(folder / "mute")]}
    servers = {"slow": slow, "brief": slow | {"timeout": 1}, "mute": mute}
    mcp.write_text(json.dumps({"mcpServers": servers}))
    with (
        ModelServer() as models,
        Proxy(_postgres(database)) as to_postgres,
        Proxy(redis_address(redis)) as to_redis,
    ):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "TURNSTONE_"))}
        chromium = {k: v for k, v in os.environ.items() if k == "TURNSTONE_CHROMIUM"}
        environment = {
            "TURNSTONE_ARTIFACTS": os.environ["TURNSTONE_ARTIFACTS"],
            "DATABASE_URL": _through(database, to_postgres.port),
            "REDIS_URL": _through(redis, to_redis.port),
            "DATABASE_POOL": "8",
            "WORKER_THREADS": str(THREADS),
            "TURNSTONE_RUNS_PER_USER": "0",
            "TURNSTONE_LOCAL_SERVERS": "none",
            "TURNSTONE_LEASE_SECONDS": str(LEASE_SECONDS),
            "TURNSTONE_GRACE_SECONDS": str(GRACE_SECONDS),
            "TURNSTONE_NETWORK_TOOLS": "true",
            "TURNSTONE_HTTP_ALLOW": models.place,
            "TURNSTONE_MCP": str(mcp),
            "PYTHONUNBUFFERED": "1",
        }
        environment = kept | chromium | environment | settings
        made = Stage(models, to_postgres, to_redis, calls, environment, folder / "worker.log")
        try:
            yield made
        finally:
            made.end()


def _postgres(url: str) -> Address:
    """Return where the Postgres of a URL listens, whose host may be a folder."""
    parts = urlsplit(url)
    port = parts.port or 5432
    if parts.hostname:
        return (parts.hostname, port)
    folder = unquote(parts.path.rpartition("/")[0]).lstrip("/")
    return f"/{folder}/.s.PGSQL.{port}"


def redis_address(url: str) -> Address:
    """Return where the Redis of a URL listens."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return unquote(parts.path)
    return (parts.hostname or "127.0.0.1", parts.port or 6379)


def _through(url: str, port: int) -> str:
    """Return the URL by way of a proxy on this machine."""
    parts = urlsplit(url)
    user, at, _ = parts.netloc.rpartition("@")
    path = parts.path.rpartition("/")[2]
    scheme = parts.scheme
    if scheme == "unix":
        scheme, path = "redis", parse_qs(parts.query).get("db", ["0"])[0]
    return urlunsplit((scheme, f"{user}{at}127.0.0.1:{port}", f"/{path}", "", ""))
