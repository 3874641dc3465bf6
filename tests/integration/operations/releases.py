"""Earlier releases: files of what each had stored, under its last migration."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from project.ops.backup import address_of

HERE = Path(__file__).parent
FINISH = """
import django
django.setup()
from chat.runs import lease
from chat.runs.worker.worker import Worker
print(*lease.release_expired())
worker = Worker()
while worker.work_next():
    pass
worker.close()
"""
"""Ends what an upgrade interrupted: the program of a worker with nothing else to do."""
Parameters = dict[str, Any]
Python = Callable[..., str]


@dataclass(frozen=True)
class Release:
    """A file of what a release had stored, under its last migration, and what is in it."""

    file: str
    migration: str
    ended: int
    live: tuple[str, ...]


RELEASES = (
    Release("first_day.sql", "0001", 8, ("interrupted", "queued", "running")),
    Release("first_release.sql", "0001", 10, ("interrupted", "queued", "running")),
    Release("second_release.sql", "0004", 13, ("interrupted", "interrupted", "queued", "waiting")),
)


def filled(empty: Parameters, python: Python, release: Release) -> Parameters:
    python(empty, "manage.py", "migrate", "chat", release.migration)
    with psycopg.connect(address_of(empty)) as old:
        old.execute("TRUNCATE chat_policy CASCADE")  # published by the migration, and in the file
        old.execute((HERE / release.file).read_text(encoding="utf-8"))
    return empty
