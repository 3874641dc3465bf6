"""Which code runs is known without asking Git."""

from pathlib import Path

import pytest

from project.build import of_checkout

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a folder that says its version."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1.2.3"\n')
    return tmp_path


def test_a_checkout_is_named_by_its_commit(checkout: Path) -> None:
    heads = checkout / ".git" / "refs" / "heads"
    heads.mkdir(parents=True)
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (heads / "main").write_text(f"{COMMIT}\n")
    assert of_checkout(checkout) == COMMIT[:12]


def test_a_commit_that_git_has_packed_is_found(checkout: Path) -> None:
    (checkout / ".git").mkdir()
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    packed = f"# pack-refs with: peeled\n{'f' * 40} refs/heads/main-2\n{COMMIT} refs/heads/main\n"
    (checkout / ".git" / "packed-refs").write_text(packed)
    assert of_checkout(checkout) == COMMIT[:12]


def test_a_commit_that_stands_in_no_branch_is_one_too(checkout: Path) -> None:
    (checkout / ".git").mkdir()
    (checkout / ".git" / "HEAD").write_text(f"{COMMIT}\n")
    assert of_checkout(checkout) == COMMIT[:12]


def test_without_git_it_is_the_version(checkout: Path) -> None:
    assert of_checkout(checkout) == "v1.2.3"


def test_without_either_nothing_is_said(tmp_path: Path) -> None:
    assert of_checkout(tmp_path) == ""
