"""Every file of the project is short enough to be read at one sitting."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OURS = ("agents", "chat", "project", "static/css", "static/js", "tests")
MOST = 300


@pytest.mark.parametrize("ending", ["py", "js", "mjs", "css"])
def test_no_file_is_longer_than_one_idea_takes(ending: str) -> None:
    files = [file for folder in OURS for file in (ROOT / folder).rglob(f"*.{ending}")]
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files}

    assert lengths
    assert {str(file.relative_to(ROOT)): n for file, n in lengths.items() if n > MOST} == {}
