"""docs/extensions.md does as it says: its commands and its examples run as they stand."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.extensions import ROOT, TEMPLATE, scratch_environment, shell

TEXT = (ROOT / "docs" / "extensions.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [code for name, code in BLOCK.findall(TEXT) if name == kind]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a checkout in which the build of the template may leave what it likes."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "agents", folder / "agents", ignore=shutil.ignore_patterns("__pyc*"))
    shutil.copytree(TEMPLATE, folder / TEMPLATE.relative_to(ROOT))
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scratch_environment(tmp_path_factory.mktemp("environment") / "venv")


@pytest.fixture(scope="module")
def said(programs: Path, checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run the commands of the document."""
    return shell(programs, "\n".join(blocks("sh")), checkout)


def test_the_commands_install_list_and_ask(said: subprocess.CompletedProcess[str]) -> None:
    assert said.returncode == 0, said.stdout + said.stderr
    assert (
        "  warehouse: tools stock, orders; policies grounded; providers storekeeper; "
        "offers grounded (from turnstone_warehouse (turnstone-warehouse 0.1.0))\n"
    ) in said.stdout
    assert said.stdout.endswith("\nThere are 1200 nails in stock.\n")


def test_the_examples_run_in_their_order(
    said: subprocess.CompletedProcess[str], programs: Path, checkout: Path
) -> None:
    assert said.returncode == 0
    begin = "from agents.extensions.loading import load\nassert load({}).loaded\n"
    (checkout / "examples.py").write_text(begin + "\n".join(blocks("python")))

    done = shell(programs, "python examples.py", checkout)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_document_shows_the_template_as_it_is() -> None:
    module = (TEMPLATE / "turnstone_warehouse" / "__init__.py").read_text()
    project = (TEMPLATE / "pyproject.toml").read_text()

    assert module.endswith(blocks("python")[0])
    assert blocks("toml")[0] in project
    named = set(re.findall(r"\| `(\w+\.py)` \|$", TEXT, re.MULTILINE))
    assert named == {file.name for file in (TEMPLATE / "turnstone_warehouse").glob("*.py")}
