"""Extensions that a test writes itself, in a process that forgets them afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.extensions import TEMPLATE, forgotten_afterwards

Written = Callable[..., str]


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with forgotten_afterwards():
        yield


@pytest.fixture
def warehouse(monkeypatch: pytest.MonkeyPatch) -> str:
    """Put the template of the documentation on the path; return its module."""
    monkeypatch.syspath_prepend(TEMPLATE)
    return "turnstone_warehouse"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Write a module: `name = written("shelf", "extension = Extension(name='shelf')")`."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, *lines: str) -> str:
        begin = "from agents.extensions.extension import Extension, Offer"
        (tmp_path / f"{name}.py").write_text("\n".join((begin, *lines)) + "\n")
        return name

    return write
