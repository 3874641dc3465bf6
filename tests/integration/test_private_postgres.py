"""The private Postgres of a person's machine lets go of no committed row, also in a power cut."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from project.local.embedded import DATABASE, ROLE, short_folder
from project.local.postgres import Postgres
from project.local.processes import start, stop

SAFE = ("fsync", "synchronous_commit", "full_page_writes")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a folder whose name fits a socket."""
    folder = short_folder()
    yield folder
    shutil.rmtree(folder)


def test_it_writes_to_disk_before_it_says_that_a_row_is_stored(
    folder: Path, wait_for: Callable[..., None]
) -> None:
    server = Postgres(folder / "postgres", folder, folder / "postgres.log")
    server.create()
    child = start(server.program(), lambda name, line: None)
    try:
        wait_for(server.is_ready, "the server")
        with psycopg.connect(host=str(folder), user=ROLE, dbname=DATABASE) as connection:
            said = [connection.execute(f"SHOW {name}").fetchone() for name in SAFE]
    finally:
        stop([child], patience=10)

    assert said == [("on",)] * 3
