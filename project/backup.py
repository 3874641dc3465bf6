"""Save the whole record to one file, and restore it: `python -m project.backup save FILE`.

Everything that must last is in Postgres; Redis holds nothing that a restore needs. Postgres' own
programs do the work, from the wheel of the private server or from the machine. A `FILE` of `-` is
the standard output or input.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from project.errors import CannotStart
from project.postgres import installed, major

STREAM = "-"
MARK = "django_migrations"
"""The table that every database of ours has."""


def main(words: Sequence[str]) -> int:
    """Do what the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m project.backup")
    parser.add_argument("action", choices=("save", "restore"))
    parser.add_argument("file", help="where to save to or restore from; - is a pipe")
    options = parser.parse_args(words)
    # Settings know the address; they need no database.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    from django.conf import settings
    from django.db import connection

    parameters = connection.get_connection_params()
    try:
        if options.action == "save":
            save(parameters, options.file)
        else:
            restore(parameters, options.file)
            forget_streams(settings.REDIS_URL)
            _tell("Restored. Now run: python manage.py migrate")
    except (CannotStart, OSError, psycopg.Error) as error:
        _tell(f"ERROR: {' '.join(str(error).split())}")
        return 1
    return 0


def save(parameters: dict[str, Any], file: str) -> None:
    """Write a consistent copy of the database while it is in use, readable by its owner only.

    A file that is there already is left alone. Raises CannotStart when Postgres' program fails.
    """
    if file == STREAM:
        _run(parameters, "pg_dump", ["--format=custom"])
        return
    path = Path(file)
    draft = path.with_name(path.name + ".part")
    if path.exists():
        raise CannotStart(f"{path} is there already.")
    os.close(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    try:
        _run(parameters, "pg_dump", ["--format=custom", f"--file={draft}"])
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)
    _tell(f"Saved {path.stat().st_size:,} bytes to {path}.")


def restore(parameters: dict[str, Any], file: str) -> None:
    """Fill an empty database with what was saved, in one transaction.

    Raises CannotStart when the database is not empty or Postgres' program fails.
    """
    with psycopg.connect(address_of(parameters)) as connection:
        if connection.execute("SELECT to_regclass(%s)", [MARK]).fetchone() != (None,):
            raise CannotStart("This database is in use: restore into an empty one.")
    words = ["--exit-on-error", "--single-transaction"]
    _run(parameters, "pg_restore", words if file == STREAM else [*words, file], exact=True)


def forget_streams(redis_url: str) -> None:
    """Delete the live tails, which may be newer than what was restored."""
    # Only a restore needs them.
    import redis

    from chat.live.streams import ALL_STREAMS

    with redis.Redis.from_url(redis_url, socket_timeout=10) as client:
        for pattern in ALL_STREAMS:
            for key in client.scan_iter(pattern, count=1000):
                client.delete(key)


def _run(
    parameters: dict[str, Any], program: str, words: Sequence[str], *, exact: bool = False
) -> None:
    password = {"PGPASSWORD": parameters["password"]} if parameters.get("password") else {}
    command = [
        *(str(_find(parameters, program, exact)), "--no-owner", "--no-privileges"),
        *(f"--dbname={address_of({**parameters, 'password': None})}", *words),
    ]
    code = subprocess.run(command, env=os.environ | password, check=False).returncode
    if code:
        raise CannotStart(f"{program} ended with exit code {code}; its words are above.")


def _find(parameters: dict[str, Any], program: str, exact: bool) -> Path:
    """Return a program of the server's own version, else of a newer one.

    A newer pg_restore says what an older server does not understand, so it will not do.
    """
    with psycopg.connect(address_of(parameters)) as connection:
        server = connection.info.server_version // 10_000
    on_path = shutil.which(program)
    folders = [*installed(), *([Path(on_path).resolve().parent] if on_path else [])]
    found = {int(major(folder, program) or 0): folder / program for folder in folders[::-1]}
    if server in found:
        return found[server]
    newer = sorted(version for version in found if version > server)
    if newer and not exact:
        return found[newer[0]]
    raise CannotStart(
        f"The server is Postgres {server}, and there is no {program} of that version here: "
        f"install it (on Debian: apt install postgresql-client-{server})."
    )


def address_of(parameters: dict[str, Any]) -> str:
    """Return a connection string of what libpq understands."""
    known = ("host", "port", "user", "password", "dbname")
    kept = {
        name: value
        for name, value in parameters.items()
        if value and (name in known or name.startswith("ssl"))
    }
    return make_conninfo("", **kept)


def _tell(words: str) -> None:
    print(words, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
