"""What is said once everything runs."""

from pathlib import Path

import pytest

from project.local import start
from project.local.ports import Address

NOBODY = {"username": "", "model": ""}


@pytest.fixture(autouse=True)
def _local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo-password").write_text("a-password")
    monkeypatch.setattr(start, "LOCAL", tmp_path)


def test_who_opens_it_to_the_network_is_told_that_others_can_read_along() -> None:
    words = start._greeting(Address("0.0.0.0", "0.0.0.0", 8000), NOBODY)  # noqa: S104

    assert "plain HTTP" in words


def test_who_keeps_it_to_the_own_machine_is_not() -> None:
    demo = {"username": "demo", "model": ""}

    words = start._greeting(Address("127.0.0.1", "127.0.0.1", 8000), demo)

    assert "plain HTTP" not in words
    assert "Sign in as demo with the password a-password" in words
