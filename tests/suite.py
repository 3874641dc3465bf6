"""Install what the suite needs and run all of it: `make test` and `make test-postgres15`.

Words after the options go to pytest: `make test ARGS="tests/unit -k calculator"`. Without them the
suite runs in lanes side by side, since most tests wait most of the time; each lane has throw-away
servers of its own, whatever DATABASE_URL and REDIS_URL say.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
CHROMIUM = ("chromium", "google-chrome", "chromium-browser", "google-chrome-stable")
OLDEST_NODE = (20, 15)
POSTGRES = Path("/usr/lib/postgresql")
SERVERS = ("DATABASE_URL", "REDIS_URL", "TURNSTONE_ARTIFACTS")
PYTEST = (sys.executable, "-m", "pytest", "--durations=10", "--durations-min=5")
OTHER_POSTGRES = "15"
TOUCHES_THE_DATABASE = ("-m", "services and not browser and not processes")
"""What asks the other Postgres its own questions; processes that die are the same beside both."""
RUNS, E2E, CHAOS = "tests/integration/runs", "tests/e2e", "tests/chaos"
REAL_MODEL = "tests/real_model"
COMPUTES = ("tests/unit", "tests/conformance")
SQL = (
    "tests/integration/reading",
    f"{RUNS}/queue/test_queue.py",
    f"{RUNS}/queue/test_queue_at_once.py",
    f"{RUNS}/queue/test_queue_rows.py",
    f"{RUNS}/queue/test_ask.py",
    "tests/integration/operations/test_backup.py",
)
"""What has SQL that another version could read otherwise: every run of the suite asks it."""
REST = tuple(f"--ignore={place}" for place in (*COMPUTES, E2E, CHAOS, REAL_MODEL))
BOTH_SERVERS = (f"{E2E}/live",)
"""What asks the server of pages and sockets itself, and is asked of the other one, too."""
OF_A_PIECE = {"the other web server": {"TURNSTONE_SERVER": "uvicorn"}}
PIECES = {
    "what starts processes": (*REST, "-m", "processes"),
    "what computes": COMPUTES,
    "browser": (E2E,),
    "runs": (RUNS, "-m", "not processes"),
    "pages, search, live path": (*REST, f"--ignore={RUNS}", "-m", "not processes"),
    "the other web server": BOTH_SERVERS,
    "chaos": (CHAOS,),
    "a real model": (REAL_MODEL,),
}
"""The suite in pieces, the longest first; together they leave nothing out."""
MODULES = ("static/js/**/*.js", "tests/**/*.mjs")
FORM = {"look": ("--check", *MODULES), "mend": ("--write", *MODULES)}
"""What Prettier does with the pages' modules."""
LANES = 2
"""A third gains two minutes of fifteen on two cores, and what has limits of seconds misses them."""


def main() -> int:
    """Prepare, run every part of the suite, print the whole time, return the first bad code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--postgres", help="run only what touches the database, on this version")
    parser.add_argument("--form", choices=("look", "mend"), help="of the pages' modules; no test")
    options, words = parser.parse_known_args()
    began = time.monotonic()
    os.chdir(ROOT)
    os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    if options.form:
        prepare_node()
        return run(["npx", "prettier", "--log-level", "warn", *FORM[options.form]])
    prepare()
    if options.postgres:
        codes = [run_on_postgres(options.postgres, words)]
    elif words:
        codes = [run([*PYTEST, *words])]
    else:
        codes = run_all()
    seconds = time.monotonic() - began
    bad = next((code for code in codes if code), 0)
    print(f"The whole suite {'failed' if bad else 'passed'} in {seconds:.0f} s.", flush=True)
    return bad


def run_all() -> list[int]:
    """Run the pieces in lanes side by side; each prints when it is done."""
    for name in SERVERS:
        os.environ.pop(name, None)
    with ThreadPoolExecutor(LANES) as lanes:
        pieces = [
            lanes.submit(
                run_piece, name, [*PYTEST, "-q", *words], os.environ | OF_A_PIECE.get(name, {})
            )
            for name, words in PIECES.items()
        ]
        pieces += [lanes.submit(run_on_other_postgres), lanes.submit(run_javascript)]
        return [piece.result() for piece in pieces]


def prepare() -> None:
    """Install Node's packages, a small model, a browser and bubblewrap where they are missing."""
    prepare_node()
    require([sys.executable, "-I", "project/local/environment.py", "--dev", "--local"])
    if not os.environ.get("TURNSTONE_CHROMIUM"):
        os.environ["TURNSTONE_CHROMIUM"] = browser()
    if shutil.which("bwrap") is None and can_install():
        install("bubblewrap")


def prepare_node() -> None:
    """Install Node where it is missing or old, and its packages."""
    if node_version() < OLDEST_NODE:
        lock = "requirements-node.lock"
        require([sys.executable, "-m", "uv", "pip", "install", "--require-hashes", "-r", lock])
    installed = ROOT / "node_modules" / ".package-lock.json"
    lock_file = ROOT / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock_file.stat().st_mtime:
        require(["npm", "ci", "--no-audit", "--no-fund"])


def node_version() -> tuple[int, ...]:
    """Return Node's version, (0,) where there is none."""
    if shutil.which("node") is None:
        return (0,)
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(number) for number in re.findall(r"\d+", said))


def browser() -> str:
    """Return the path of a Chromium: the machine's, its packages', or Playwright's."""
    for name in CHROMIUM:
        found = shutil.which(name)
        if found:
            return found
    if can_install():
        install("chromium")
        return shutil.which("chromium") or ""
    require([sys.executable, "-m", "playwright", "install", "chromium"])
    return ""


def can_install() -> bool:
    """Tell whether packages of the system may be installed: root on Debian."""
    return os.getuid() == 0 and Path("/etc/debian_version").exists()


def install(package: str) -> None:
    """Install a package of the system."""
    require(["apt-get", "update", "-qq"])
    require(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package])


def run_javascript() -> int:
    """Run the tests of the pages' modules."""
    tests = sorted(str(path) for path in (ROOT / "tests" / "unit" / "js").glob("*.test.*js"))
    return run_piece("JavaScript", ["node", "--test", *tests])


def run_on_other_postgres() -> int:
    """Run what has SQL of its own on the other Postgres, where it is installed."""
    if not _programs(OTHER_POSTGRES):
        print(f"Postgres {OTHER_POSTGRES} is not installed; nothing runs on it.", flush=True)
        return 0
    environment = _beside(OTHER_POSTGRES)
    return run_piece(f"Postgres {OTHER_POSTGRES}", [*PYTEST, "-q", *SQL], environment)


def run_on_postgres(version: str, words: list[str]) -> int:
    """Run what touches the database on a throw-away server of another version."""
    if not _programs(version):
        sys.exit(f"Postgres {version} is not installed.")
    return run([*PYTEST, *TOUCHES_THE_DATABASE, *words], env=_beside(version))


def _programs(version: str) -> bool:
    return (POSTGRES / version / "bin" / "initdb").exists()


def _beside(version: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in SERVERS}
    return kept | {"TURNSTONE_POSTGRES": str(POSTGRES / version / "bin")}


def run_piece(name: str, command: list[str], environment: dict[str, str] | None = None) -> int:
    """Run a command beside others, print what it printed as one, and return its code."""
    began = time.monotonic()
    print(f"== {name} begins\n", end="", flush=True)  # whole, beside the other lanes
    with tempfile.TemporaryFile() as printed:
        code = run(command, stdout=printed, stderr=subprocess.STDOUT, env=environment)
        printed.seek(0)
        said = printed.read().decode(errors="replace")
    print(f"{said}\n== {name} ended after {time.monotonic() - began:.0f} s: {code}", flush=True)
    return code


def run(command: list[str], **options: Any) -> int:
    """Run a command and return its code."""
    return subprocess.call(command, **options)


def require(command: list[str]) -> None:
    """Run a command that the suite cannot do without."""
    code = run(command)
    if code:
        sys.exit(f"The suite needs this, and it failed: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
