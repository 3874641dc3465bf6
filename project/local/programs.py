"""The two programs of Turnstone itself, the same on a laptop, in a test and on a server."""

import sys
from collections.abc import Mapping
from pathlib import Path

from project.local.processes import Program

ROOT = Path(__file__).resolve().parents[2]


def web(bind: tuple[str, ...], environment: Mapping[str, str]) -> Program:
    """Return the server of pages and the live protocol; `bind` are options of `project.web`."""
    return Program("web", (sys.executable, "-m", "project.web", *bind), ROOT, environment)


def worker(environment: Mapping[str, str]) -> Program:
    """Return a Celery worker; it skips the talk among workers, for leases say who is alive."""
    command = (
        *(sys.executable, "-m", "celery", "--quiet", "-A", "project", "worker"),
        *("--loglevel", "INFO", "--without-gossip", "--without-mingle", "--without-heartbeat"),
    )
    return Program("worker", command, ROOT, environment)
