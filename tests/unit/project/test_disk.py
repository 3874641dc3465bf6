"""A full disk is told in plain words."""

from pathlib import Path

import pytest

from project.local import disk


def test_a_real_full_device_is_explained(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as failure:
        Path("/dev/full").write_text("x")

    words = disk.explain(str(failure.value), tmp_path)

    assert words.startswith("The disk is full: ")
    assert "Make room and run this again" in words


def test_other_words_stay_as_they_are(tmp_path: Path) -> None:
    assert disk.explain("The port is in use.", tmp_path) == "The port is in use."


def test_a_disk_with_room_is_let_through(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()

    disk.require_room(tmp_path)
