"""What is served to the browser keeps its promises."""

import hashlib
import re
from pathlib import Path

import pytest

STATIC = Path(__file__).resolve().parents[4] / "static"
MODULES = sorted((STATIC / "js").rglob("*.js"))
CHECKSUMS = (STATIC / "vendor" / "checksums").read_text().splitlines()


@pytest.mark.parametrize("line", CHECKSUMS)
def test_vendored_scripts_are_what_was_copied(line: str) -> None:
    digest, name = line.split()

    assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_no_module_writes_markup_but_one(module: Path) -> None:
    writers = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTMLUnsafe|\beval\("

    assert not re.search(writers, module.read_text())
    assert ("DOMParser" in module.read_text()) == (module.name == "html.js")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_are_short_and_import_only_ours(module: Path) -> None:
    text = module.read_text()

    assert len(text.splitlines()) < 200
    for address in re.findall(r"(?:from|import\()\s*\"([^\"]+)\"", text):
        assert (module.parent / address).resolve().is_relative_to(STATIC)
        assert (module.parent / address).exists()


def test_nothing_is_loaded_from_elsewhere() -> None:
    for sheet in (STATIC / "css").rglob("*.css"):
        assert not re.search(r"url\(|@import", sheet.read_text()), sheet.name
