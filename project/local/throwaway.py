"""A Postgres, a Valkey and a folder that live as long as a block of code, for suite and benches.

`python -m project.local.throwaway COMMAND ...` runs a command beside them.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from project.errors import CannotStart
from project.local.embedded import DATABASE, ROLE, VALKEY_SOCKET, short_folder
from project.local.postgres import Postgres, last_words
from project.local.processes import Child, start, stop
from project.local.valkey import Valkey


@contextmanager
def throwaway(binaries: Path | None = None) -> Iterator[dict[str, str]]:
    """Start both in a folder of their own, yield the settings that name them, and leave nothing.

    `binaries` is the folder of the Postgres to use. A crash may lose everything: they are for data
    nobody needs.
    """
    folder = short_folder()
    postgres = Postgres(folder / "postgres", folder, folder / "postgres.log", False, binaries)
    valkey = Valkey(folder / "valkey", folder, folder / "valkey.log", durable=False)
    children: list[Child] = []
    try:
        postgres.create()
        children += [start(postgres.program(), _hush), start(valkey.program(), _hush)]
        wait_until(postgres.is_ready, children[0], postgres.log)
        wait_until(valkey.is_ready, children[1], valkey.log)
        yield {
            "DATABASE_URL": f"postgres://{ROLE}@/{quote(str(folder))}/{DATABASE}",
            "REDIS_URL": f"unix://{quote(str(folder / VALKEY_SOCKET))}?db=0",
            "TURNSTONE_ARTIFACTS": str(folder / "artifacts"),
        }
    finally:
        stop(children, patience=10)
        shutil.rmtree(folder)


def wait_until(is_ready: Callable[[], bool], child: Child, log: Path, seconds: float = 60) -> None:
    """Wait for a server; raise CannotStart with its last words when it ends or takes too long."""
    deadline = time.monotonic() + seconds
    while not is_ready():
        if child.code is not None:
            raise CannotStart(f"{child.obituary()}: {last_words(log)}")
        if time.monotonic() > deadline:
            raise CannotStart(f"{child.name} was not ready after {seconds:.0f} s; see {log}.")
        time.sleep(0.02)


def _hush(name: str, line: str) -> None:
    """Take nothing: both servers write to their logs."""


if __name__ == "__main__":
    with throwaway() as addresses:
        sys.exit(subprocess.call(sys.argv[1:], env=os.environ | addresses))
