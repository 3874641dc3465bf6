"""The environment that `make` builds before anything else, by whatever Python there is."""

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("", "-dev", "-local", "-uv")
NOWHERE = "http://127.0.0.1:1/simple"
NO_INDEX = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": NOWHERE,
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "UV_DEFAULT_INDEX": NOWHERE,
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy what the environment is made from to a path with a space in it."""
    folder = tmp_path / "a check out"
    (folder / "project" / "local").mkdir(parents=True)
    shutil.copy(ROOT / "project" / "local" / "environment.py", folder / "project" / "local")
    for lock in LOCKS:
        shutil.copy(ROOT / f"requirements{lock}.lock", folder)
    return folder


def _digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def _make(checkout: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "project/local/environment.py", *options],
        cwd=checkout,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_an_index_one_line_says_what_to_do(checkout: Path) -> None:
    result = _make(checkout, **NO_INDEX)

    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "No package index could be reached: connect to the network" in result.stderr


def test_an_environment_that_fits_the_locks_is_left_alone(checkout: Path) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").touch()
    stamp = {"root": str(checkout), "dev": _digest(checkout / "requirements-dev.lock")}
    (checkout / ".venv" / "turnstone.json").write_text(json.dumps(stamp))

    result = _make(checkout)

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_what_serves_a_model_is_installed_for_who_wants_it_and_without_what_it_asks_for(
    checkout: Path,
) -> None:
    told = checkout / "told"
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@" >> told\n')
    python.chmod(0o700)
    stamp = {"root": str(checkout), "run": _digest(checkout / "requirements.lock")}
    (checkout / ".venv" / "turnstone.json").write_text(json.dumps(stamp))

    without, with_it, again = (
        _make(checkout),
        _make(checkout, "--local"),
        _make(checkout, "--local"),
    )

    assert (without.stdout, again.stdout) == ("", "")
    assert "Making the environment from requirements-local.lock" in with_it.stdout
    installed = told.read_text().splitlines()[-1]
    for word in ("--require-hashes", "--no-deps", "--only-binary :all:", "requirements-local.lock"):
        assert word in installed


def test_a_folder_that_cannot_be_written_is_told(checkout: Path) -> None:
    (checkout / ".local").write_text("not a folder")

    result = _make(checkout)

    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "File exists" in result.stderr


def test_a_python_that_is_too_old_can_still_read_what_refuses_it() -> None:
    source = (ROOT / "project" / "local" / "environment.py").read_text()

    ast.parse(source, feature_version=(3, 6))
