"""A migration that has landed is the past of somebody's database, so it never changes again."""

import hashlib
from pathlib import Path

MIGRATIONS = Path(__file__).resolve().parents[3] / "chat" / "migrations"
LANDED = Path(__file__).with_name("migrations.sha256")
"""As written by `sha256sum`: a line is added for each new migration, and none is changed."""


def test_no_landed_migration_is_edited() -> None:
    lines = map(str.split, LANDED.read_text().splitlines())
    landed = {name: digest for digest, name in lines}

    found = {path.name: _digest(path) for path in MIGRATIONS.glob("0*.py")}

    assert found == landed, "Undo the edit and write a migration; a new one gets a line of its own."


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
