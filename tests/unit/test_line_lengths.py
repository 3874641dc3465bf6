"""What a person must read fits a window: no line of code or template is long."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("agents", "chat", "project", "static", "templates", "tests")
KINDS = frozenset({".css", ".html", ".js", ".mjs", ".py"})
NOT_OURS_TO_FORM = (ROOT / "chat" / "migrations", ROOT / "static" / "vendor")
"""A landed migration is never edited, and what is vendored is as it was copied."""
MAX_LENGTH = 120


def sources(room: str) -> list[Path]:
    """Return the files of a room that people read and write by hand."""
    return [
        path
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in KINDS and not any(map(path.is_relative_to, NOT_OURS_TO_FORM))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_no_line_is_longer_than_a_window_is_wide(room: str) -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number} has {len(line)} characters"
        for path in sources(room)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MAX_LENGTH
    ]

    assert sources(room), "nothing was looked at"
    assert long == []
