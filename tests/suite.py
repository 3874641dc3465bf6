"""Install what the suite needs and run all of it: `make test` and `make test-postgres15`.

Words after the options go to pytest: `make test ARGS="tests/unit -k calculator"`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
CHROMIUM = ("chromium", "google-chrome", "chromium-browser", "google-chrome-stable")
OLDEST_NODE = (20, 15)
PYTEST = (sys.executable, "-m", "pytest")
COMPUTES = ("tests/unit", "tests/conformance")
OTHER_POSTGRES = "15"
TOUCHES_THE_DATABASE = (
    *("-m", "services and not browser and not worker"),
    *("--ignore-glob=*/test_start*.py", "--ignore=tests/integration/live"),
)
"""What asks the other Postgres its own questions; processes that die are the same beside both."""


def main() -> int:
    """Prepare, run every part of the suite, print the whole time, return the first bad code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--postgres", help="run only what touches the database, on this version")
    options, words = parser.parse_known_args()
    began = time.monotonic()
    os.chdir(ROOT)
    os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
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
    """Run what mostly waits, and what mostly computes beside it; what that printed comes after."""
    with tempfile.TemporaryFile("w+") as printed, ThreadPoolExecutor(1) as beside:
        computed = beside.submit(run_what_computes, printed)
        codes = [run([*PYTEST, *(f"--ignore={place}" for place in COMPUTES)])]
        codes += computed.result()
        printed.seek(0)
        shutil.copyfileobj(printed, sys.stdout)
    return codes


def run_what_computes(output: TextIO) -> list[int]:
    """Run the unit tests, those of the pages' modules, and what asks the other Postgres."""
    return [
        run([*PYTEST, "-q", *COMPUTES], output),
        run_javascript(output),
        run_on_postgres(OTHER_POSTGRES, ["-q"], output, optional=True),
    ]


def prepare() -> None:
    """Install Node's packages, a browser and bubblewrap where they are missing."""
    if node_version() < OLDEST_NODE:
        lock = "requirements-node.lock"
        require([sys.executable, "-m", "uv", "pip", "install", "--require-hashes", "-r", lock])
    installed = ROOT / "node_modules" / ".package-lock.json"
    lock_file = ROOT / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock_file.stat().st_mtime:
        require(["npm", "ci", "--no-audit", "--no-fund"])
    if not os.environ.get("TURNSTONE_CHROMIUM"):
        os.environ["TURNSTONE_CHROMIUM"] = browser()
    if shutil.which("bwrap") is None and can_install():
        install("bubblewrap")


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


def run_javascript(output: TextIO | None = None) -> int:
    """Run the tests of the pages' modules."""
    tests = sorted(str(path) for path in (ROOT / "tests" / "unit" / "js").glob("*.test.*js"))
    return run(["node", "--test", *tests], output)


def run_on_postgres(
    version: str, words: list[str], output: TextIO | None = None, optional: bool = False
) -> int:
    """Run what touches the database on a throw-away server of another version."""
    binaries = Path(f"/usr/lib/postgresql/{version}/bin")
    if not (binaries / "initdb").exists():
        print(f"Postgres {version} is not installed; nothing ran on it.", file=output, flush=True)
        return 0 if optional else 1
    print(f"On Postgres {version}:", file=output, flush=True)
    environment = os.environ | {"TURNSTONE_POSTGRES": str(binaries)}
    environment.pop("DATABASE_URL", None)
    environment.pop("REDIS_URL", None)
    return run([*PYTEST, *TOUCHES_THE_DATABASE, *words], output, environment)


def run(
    command: list[str],
    output: TextIO | None = None,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run a command, in the open unless `output` takes what it prints, and return its code."""
    stderr = None if output is None else subprocess.STDOUT
    return subprocess.call(command, stdout=output, stderr=stderr, env=environment)


def require(command: list[str]) -> None:
    """Run a command that the suite cannot do without."""
    code = run(command)
    if code:
        sys.exit(f"The suite needs this, and it failed: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
