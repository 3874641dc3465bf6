"""Make the environment that `make` works in, from the locked set: `.venv`.

Run as `python3 -I project/local/environment.py [--dev] [--local]` by whatever Python 3 there is, of
which `--local` adds what serves a model on this machine: it needs
nothing but the standard library, and it is the one module that a Python older than 3.11 must
understand. A second run is a look at a stamp. Packages are only ever added, so that the
development set stays usable for a plain `make run`.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "turnstone.json")
LOCAL = os.path.join(ROOT, ".local")
LOG = os.path.join(LOCAL, "install.log")
LOCKS = {
    "run": "requirements.lock",
    "dev": "requirements-dev.lock",
    "local": "requirements-local.lock",
}
NEEDED_MEGABYTES = {"run": 500, "dev": 900, "local": 500}
NEWER = ["python3.14", "python3.13", "python3.12", "python3.11"]
WHEELS_ONLY = ["--only-binary", ":all:"]


class Refused(Exception):
    """Raised with the one line that says what to do."""


def main(arguments: "list[str]") -> int:
    """Make the environment; print one line on stderr and return 1 if that cannot be done."""
    if sys.version_info < (3, 11):  # noqa: UP036
        return use_a_newer_python(arguments)
    kind = "dev" if "--dev" in arguments else "run"
    try:
        os.makedirs(LOCAL, mode=0o700, exist_ok=True)
        with only_one():
            if not is_current(kind):
                make(kind)
            if "--local" in arguments and not is_current("local"):
                kind = "local"
                make(kind)
    except Refused as error:
        return refuse(str(error))
    except PermissionError as error:
        return refuse(f"{error.filename} is somebody else's: start as the user who owns {ROOT}.")
    except OSError as error:
        return refuse(explain(str(error), kind))
    except KeyboardInterrupt:
        return 130
    return 0


def use_a_newer_python(arguments: "list[str]") -> int:
    """Hand over to a newer Python on the PATH; this one stays if there is none."""
    for name in NEWER:
        path = shutil.which(name)
        if path:
            os.execv(path, [path, "-I", os.path.abspath(__file__), *arguments])  # noqa: S606
    return refuse(
        f"Turnstone needs Python 3.11 or newer, and {sys.executable} is older: install one "
        "(python.org, or your system's packages), then run make with PYTHON=/path/to/it."
    )


@contextlib.contextmanager
def only_one() -> "Iterator[None]":
    """Let one process at a time work on the environment; the second one then finds it done."""
    with open(os.path.join(LOCAL, "install.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_current(kind: str) -> bool:
    """Tell whether `.venv` was made here from the locks as they are now."""
    stamp = read_stamp()
    if stamp.get("root") != ROOT or not os.path.exists(PYTHON):
        return False
    enough = ["dev", "run"] if kind == "run" else [kind]
    return any(stamp.get(name) == digest(LOCKS[name]) for name in enough)


def make(kind: str) -> None:
    """Make `.venv` if it is missing or from another place, and install the locked set."""
    print(f"Making the environment from {LOCKS[kind]} ...", flush=True)
    began = time.monotonic()
    free = shutil.disk_usage(ROOT).free // 2**20
    if not os.path.exists(PYTHON) and free < NEEDED_MEGABYTES[kind]:
        raise Refused(disk_is_full(kind))
    with open(LOG, "wb"):
        pass
    make_venv()
    install(kind)
    stamp = {**read_stamp(), "root": ROOT, kind: digest(LOCKS[kind])}
    with open(STAMP, "w") as file:
        json.dump(stamp, file)
    print(f"The environment is made ({time.monotonic() - began:.0f} s).", flush=True)


def make_venv() -> None:
    """Make an empty environment; keep one that is there and works."""
    moved = read_stamp().get("root", ROOT) != ROOT
    if not moved and run([PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]):
        return
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        uv = shutil.which("uv")
        if uv and run([uv, "venv", "--clear", "--seed", "--python", sys.executable, VENV]):
            return
        raise Refused(
            f"{sys.executable} comes without venv and pip: install them (on Debian and Ubuntu: "
            "apt install python3-venv) and run this again."
        ) from None
    if not run([sys.executable, "-m", "venv", "--clear", VENV]):
        raise Refused(explain(log_text(), "run"))


def install(kind: str) -> None:
    """Install the locked set with uv, which takes seconds; with pip where uv cannot."""
    lock = os.path.join(ROOT, LOCKS[kind])
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--retries", "1"]
    pip += ["install", "--require-hashes"]
    uv = [PYTHON, "-m", "uv", *cache(), "pip", "install", "--python", PYTHON, "--require-hashes"]
    if kind == "local":  # without what its packages ask for: a model's file and a library need none
        pip, uv = [[*command, "--no-deps", *WHEELS_ONLY] for command in (pip, uv)]
    # Compiled now, so that every start is quick, even where Python may not write beside its files.
    if run([*pip, *WHEELS_ONLY, "-r", os.path.join(ROOT, "requirements-uv.lock")]) and run(
        [*uv, "--compile-bytecode", "-r", lock]
    ):
        return
    if is_disk_full(log_text()) or is_offline(log_text()) or not run([*pip, "-r", lock]):
        raise Refused(explain(log_text(), kind))


def cache() -> "list[str]":
    """Keep uv's cache beside us where the person has no home to keep it in."""
    home = os.path.expanduser("~")
    return [] if os.access(home, os.W_OK) else ["--cache-dir", os.path.join(LOCAL, "cache")]


def run(command: "list[str]") -> bool:
    """Run a command, its words going to the log, and tell whether it went well."""
    with open(LOG, "ab") as log:
        try:
            return subprocess.call(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL) == 0
        except FileNotFoundError:
            return False


def explain(text: str, kind: str) -> str:
    """Put the reason for a failure, found in what was written, into one line."""
    if is_disk_full(text):
        return disk_is_full(kind)
    if is_offline(text):
        return (
            "No package index could be reached: connect to the network, or name a mirror with "
            f"PIP_INDEX_URL, and run this again. (Details: {LOG})"
        )
    if "do not match the hashes" in text or "Hash mismatch" in text:
        return f"A package is not the one that was locked; do not trust this index. See {LOG}"
    if kind == "local" and ("no wheels" in text or "No matching distribution" in text):
        return (
            "For this machine there is no package of llama.cpp: start a server of your own there "
            f"and name it with OPENAI_BASE_URL (docs/models.md). (Details: {LOG})"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = lines[-1] if lines else "no reason was given"
    return f"The environment could not be made: {reason} (Details: {LOG})"


def is_disk_full(text: str) -> bool:
    """Tell whether the text speaks of a full disk."""
    return "No space left" in text or "os error 28" in text or "Disk quota" in text


def is_offline(text: str) -> bool:
    """Tell whether the text speaks of an index that cannot be reached."""
    signs = ["NewConnectionError", "Failed to establish a new connection", "ConnectTimeout"]
    signs += ["Temporary failure in name resolution", "error sending request", "dns error"]
    signs += ["ProxyError", "Connection refused", "Network is unreachable", "Max retries exceeded"]
    return any(sign in text for sign in signs)


def disk_is_full(kind: str) -> str:
    """Say how much room there is and how much it takes."""
    free = shutil.disk_usage(ROOT).free // 2**20
    return (
        f"The disk is full: {free} MB are free in {ROOT}, and the environment needs "
        f"{NEEDED_MEGABYTES[kind]} MB. Make room and run this again."
    )


def log_text() -> str:
    """Return what the commands have written."""
    with open(LOG, errors="replace") as log:
        return log.read()


def read_stamp() -> "dict[str, str]":
    """Return what the environment was made from, nothing if that is unknown."""
    try:
        with open(STAMP) as file:
            return dict(json.load(file))
    except (OSError, ValueError):
        return {}


def digest(lock: str) -> str:
    """Return the SHA-256 of a lock file."""
    with open(os.path.join(ROOT, lock), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def refuse(line: str) -> int:
    """Tell the person why it stops."""
    print("turnstone: " + line, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
