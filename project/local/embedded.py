"""The private Postgres and Valkey of a bare checkout: where they are and what they are called.

Settings read their addresses from here, so nothing in this module starts anything, and the
addresses are the same whether or not the servers run. `project.local.postgres` and
`project.local.valkey` know how to run them. Everything lies in `.local`, which only its owner
can enter.
"""

import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from project.errors import CannotStart

ROLE = "turnstone"
DATABASE = "turnstone"
VALKEY_SOCKET = "valkey.sock"

# macOS allows 103 bytes for the path of a socket, Linux 107; Postgres' is the longer name.
SOCKET_PATH_BYTES = 103
MAX_SOCKET = "/.s.PGSQL.5432"


def secret_key(local: Path) -> str:
    """Return the random key of this checkout, made at the first call and kept private."""
    return kept(local, "secret-key", lambda: secrets.token_urlsafe(48))


def database_url(local: Path) -> str:
    """Return the address of the private Postgres, over its socket."""
    return f"postgres://{ROLE}@/{quote(str(sockets(local)))}/{DATABASE}"


def redis_url(local: Path) -> str:
    """Return the address of the private Valkey, over its socket."""
    return f"unix://{quote(str(sockets(local) / VALKEY_SOCKET))}?db=0"


def sockets(local: Path) -> Path:
    """Return the folder of the sockets: `.local/run`, or where it links to if that is too long."""
    run = local / "run"
    return run.readlink() if run.is_symlink() else run


def make_sockets(local: Path) -> Path:
    """Make the folder of the sockets, open to its owner only, and return it.

    A path too long for a socket becomes a link to a fresh folder with a random name, so that nobody
    can have put one in its place.
    """
    make_private(local)
    run = local / "run"
    if fits_a_socket(run):
        make_private(run)
    elif not (run.is_symlink() and _is_private(run.readlink())):
        run.unlink(missing_ok=True)
        run.symlink_to(short_folder())
    return sockets(local)


def fits_a_socket(folder: Path) -> bool:
    """Tell whether the sockets' paths are short enough in `folder`."""
    return len(os.fsencode(folder)) + len(MAX_SOCKET) <= SOCKET_PATH_BYTES


def short_folder() -> Path:
    """Make an empty private folder whose path is short enough for sockets."""
    folder = Path(tempfile.gettempdir())
    parent = folder if fits_a_socket(folder / "turnstone-12345678") else Path("/tmp")  # noqa: S108
    return Path(tempfile.mkdtemp(prefix="turnstone-", dir=parent))


def make_private(folder: Path) -> None:
    """Make `folder` if need be, and close it to everyone but its owner."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def kept(local: Path, name: str, make: Callable[[], str]) -> str:
    """Return the text kept under `name`, making it the first time, readable by its owner only.

    Two processes that come first at once agree on one text. Raises CannotStart where nothing can
    be written.
    """
    path = local / name
    if not path.exists():
        try:
            make_private(local)
            _write_once(path, make())
        except PermissionError as error:
            raise CannotStart(
                f"{path} cannot be written: give {local} to your user, or, for a server, set "
                "SECRET_KEY, DATABASE_URL and REDIS_URL."
            ) from error
    return path.read_text().strip()


def _write_once(path: Path, text: str) -> None:
    draft, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(draft, "w") as file:
            file.write(text + "\n")
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(name)


def _is_private(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    mine = found.st_uid == os.getuid() or os.getuid() == 0
    return stat.S_ISDIR(found.st_mode) and mine and stat.S_IMODE(found.st_mode) == 0o700
