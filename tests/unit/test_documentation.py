"""The documents' examples run as they stand."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.policies import POLICIES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "policies.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@pytest.fixture
def registry() -> Iterator[None]:
    """Leave the policies of this process as they were."""
    kept = dict(POLICIES)
    yield
    POLICIES.clear()
    POLICIES.update(kept)


def blocks(text: str) -> list[str]:
    return BLOCK.findall(text)


@pytest.mark.usefixtures("registry")
def test_the_examples_run_in_their_order() -> None:
    names: dict[str, object] = {"__name__": "examples"}

    for number, code in enumerate(blocks(DOCUMENT.read_text(encoding="utf-8")), start=1):
        exec(compile(code, f"{DOCUMENT.name}, example {number}", "exec"), names)  # noqa: S102

    assert POLICIES["grounded"] is names["grounded"]


def test_there_is_an_example_of_each_kind() -> None:
    sections = dict(SECTION.findall(DOCUMENT.read_text(encoding="utf-8")))

    assert list(sections) == ["A tool", "A provider", "A part", "A policy"]
    assert all(blocks(text) for text in sections.values())


def test_another_policy_takes_at_most_thirty_lines() -> None:
    sections = dict(SECTION.findall(DOCUMENT.read_text(encoding="utf-8")))

    assert len(blocks(sections["A policy"])[0].splitlines()) <= 30


def test_every_policy_is_described() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    assert [name for name in POLICIES if f"| `{name}` |" not in text] == []
