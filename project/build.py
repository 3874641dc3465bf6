"""Which code runs: the commit of a checkout, else the version of the project."""

import re
from pathlib import Path

SHOWN = 12
"""How many digits of a commit are enough."""

COMMIT = re.compile(r"[0-9a-f]{40,64}")
VERSION = re.compile(r"^version = \"(.+)\"$", re.MULTILINE)


def of_checkout(folder: Path) -> str:
    """Return the commit that is checked out in `folder`, or the version that it says it has.

    Git is not asked, for an image has none; what is changed and not committed is not seen.
    """
    commit = _commit(folder / ".git")
    if commit:
        return commit[:SHOWN]
    version = VERSION.search(_text(folder / "pyproject.toml"))
    return f"v{version.group(1)}" if version else ""


def _commit(git: Path) -> str:
    """Return what HEAD names; an empty text where there is no Git, or another layout of it."""
    head = _text(git / "HEAD")
    if COMMIT.fullmatch(head):
        return head
    name = head.removeprefix("ref: ")
    loose = _text(git / name) if name != head else ""
    if COMMIT.fullmatch(loose):
        return loose
    packed = re.search(
        rf"^([0-9a-f]+) {re.escape(name)}$", _text(git / "packed-refs"), re.MULTILINE
    )
    return packed.group(1) if packed else ""


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
