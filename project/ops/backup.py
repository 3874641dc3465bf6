"""Save the whole record to one file, and restore it: `python -m project.ops.backup save FILE`.

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
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import psycopg
from psycopg.conninfo import make_conninfo

from project.errors import CannotStart
from project.local.postgres import installed, major

STREAM = "-"
PLAIN = ("--no-owner", "--no-privileges")
FOR_A_SCRIPT = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null")
MARK = "django_migrations"
"""The table that every database of ours has."""
LEFT_ALONE = (
    "The live tails in Redis were left alone. If this database takes the place of the one they "
    "belong to, empty that Redis before the start, or restore with --forget-streams."
)
TOO_NEW = (b"SET transaction_timeout",)
"""What a newer pg_restore begins with though an older server, before 17, does not know it."""


def main(words: Sequence[str]) -> int:
    """Do what the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m project.ops.backup")
    parser.add_argument("action", choices=("save", "restore"))
    parser.add_argument("file", help="where to save to or restore from; - is a pipe")
    parser.add_argument(
        "--forget-streams",
        action="store_true",
        help="delete the live tails in REDIS_URL: what is restored takes the place of their runs",
    )
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
            _tell("Restored. Now run: python manage.py migrate")
            if options.forget_streams:
                forget_streams(settings.REDIS_URL)
            else:
                _tell(LEFT_ALONE)
    except (CannotStart, OSError, psycopg.Error) as error:
        _tell(f"ERROR: {' '.join(str(error).split())}")
        return 1
    return 0


def save(parameters: dict[str, Any], file: str) -> None:
    """Write a consistent copy of the database while it is in use, readable by its owner only.

    A file that is there already is left alone. Raises CannotStart when Postgres' program fails.
    """
    if file == STREAM:
        _dump(parameters)
        return
    path = Path(file)
    draft = path.with_name(path.name + ".part")
    if path.exists():
        raise CannotStart(f"{path} is there already.")
    os.close(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
    try:
        _dump(parameters, f"--file={draft}")
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)
    _tell(f"Saved {path.stat().st_size:,} bytes to {path}.")


def restore(parameters: dict[str, Any], file: str) -> None:
    """Fill an empty database with what was saved, in one transaction.

    A newer pg_restore than the server writes it as a script for psql: the image of Turnstone has
    the newest only. Raises CannotStart when the database is not empty or one of the two fails.
    """
    with psycopg.connect(address_of(parameters)) as connection:
        if connection.execute("SELECT to_regclass(%s)", [MARK]).fetchone() != (None,):
            raise CannotStart("This database is in use: restore into an empty one.")
    programs = _find(parameters, "pg_restore", newest=True)
    told = [] if file == STREAM else [file]
    read = [str(programs / "pg_restore"), *PLAIN, "--file=-", *told]
    write = [str(programs / "psql"), *FOR_A_SCRIPT, _database(parameters)]
    with (
        subprocess.Popen(read, stdout=subprocess.PIPE) as reading,
        subprocess.Popen(write, stdin=subprocess.PIPE, env=_password(parameters)) as writing,
        suppress(BrokenPipeError),  # psql has said why
        cast(IO[bytes], writing.stdin) as server,
    ):
        _hand_over(cast(IO[bytes], reading.stdout), server)
        if reading.wait() == 0:
            server.write(b"COMMIT;\n")
    # What psql did not take ends pg_restore by a signal, which is not the reason.
    _require_success("pg_restore", max(0, reading.returncode))
    _require_success("psql", writing.returncode)
    _require_success("pg_restore", reading.returncode)


def _hand_over(script: IO[bytes], server: IO[bytes]) -> None:
    server.write(b"BEGIN;\n")
    for line in script:
        if not line.startswith(TOO_NEW):
            server.write(line)
        if line.startswith(b"CREATE "):
            break  # what follows may be data
    shutil.copyfileobj(script, server)


def forget_streams(redis_url: str) -> None:
    """Delete the live tails, which may be newer than what was restored.

    Raises CannotStart when Redis does not do it.
    """
    # Only a restore needs them.
    import redis

    from chat.stream.streams import ALL_STREAMS

    try:
        with redis.Redis.from_url(redis_url, socket_timeout=10) as client:
            for pattern in ALL_STREAMS:
                for key in client.scan_iter(pattern, count=1000):
                    client.delete(key)
    except redis.RedisError as error:
        raise CannotStart(
            f"The live tails could not be deleted, so empty that Redis before the start: {error}"
        ) from error


def _dump(parameters: dict[str, Any], *words: str) -> None:
    program = _find(parameters, "pg_dump") / "pg_dump"
    command = [str(program), *PLAIN, "--format=custom", _database(parameters), *words]
    code = subprocess.run(command, env=_password(parameters), check=False).returncode
    _require_success("pg_dump", code)


def _database(parameters: dict[str, Any]) -> str:
    return f"--dbname={address_of({**parameters, 'password': None})}"


def _password(parameters: dict[str, Any]) -> dict[str, str]:
    """Return the environment of a program, for the command line can be seen by all."""
    told = {"PGPASSWORD": parameters["password"]} if parameters.get("password") else {}
    return os.environ | told


def _require_success(program: str, code: int) -> None:
    if code:
        raise CannotStart(f"{program} ended with exit code {code}; its words are above.")


def _find(parameters: dict[str, Any], program: str, *, newest: bool = False) -> Path:
    """Return a folder of Postgres' programs that are as new as the server, or newer.

    The `newest` reads every backup. Of the others, those of the server's own version come first.
    """
    with psycopg.connect(address_of(parameters)) as connection:
        server = connection.info.server_version // 10_000
    on_path = shutil.which(program)
    folders = [*installed(), *([Path(on_path).resolve().parent] if on_path else [])]
    found = {int(major(folder, program) or 0): folder for folder in folders[::-1]}
    fitting = sorted(version for version in found if version >= server)
    if fitting:
        return found[fitting[-1 if newest else 0]]
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
