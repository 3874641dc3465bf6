"""Extensions in tests: forgotten afterwards, or installed with pip into another environment."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.policies import POLICIES
from agents.providers.brought import BROUGHT
from agents.tools import catalogue
from agents.tools.catalogue import TOOLS

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = ROOT / "docs" / "extensions" / "warehouse"


@contextmanager
def forgotten_afterwards() -> Iterator[None]:
    """Leave tools, policies, providers and modules of this process as they were."""
    registries: tuple[dict[str, Any], ...] = (TOOLS, POLICIES, BROUGHT)
    kept = [(registry, dict(registry)) for registry in registries]
    modules = set(sys.modules)
    try:
        yield
    finally:
        for registry, content in kept:
            registry.clear()
            registry.update(content)
        catalogue.forget()
        for name in set(sys.modules) - modules:
            if not name.startswith(("agents.", "chat.", "project.")):
                del sys.modules[name]


def scratch_environment(folder: Path) -> Path:
    """Make an environment that has all of this one; return the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "this_one.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin"


def shell(programs: Path, lines: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell with these programs first, `pip` as the environment's own."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    begin = 'set -e\npip() { python -m pip --disable-pip-version-check "$@"; }\n'
    environment = {"PATH": path, "HOME": str(programs.parent), "PIP_NO_INDEX": "1"}
    return subprocess.run(
        ["bash", "-c", begin + lines],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def install(programs: Path, source: Path) -> None:
    """Install a project without the network; the build leaves files in its folder."""
    done = shell(programs, f"pip install --no-deps --no-build-isolation '{source}'")
    assert done.returncode == 0, done.stdout + done.stderr
