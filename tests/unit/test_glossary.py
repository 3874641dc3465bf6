"""The glossary of docs/architecture.md is true: each word stands in the module that it names."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (?P<word>[a-z ]+) \| [^|]+ \| `(?P<module>[\w/]+\.py)` \|$", re.MULTILINE)


def rows() -> list[tuple[str, str]]:
    """Return the words with their modules."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    glossary = text.partition("## Glossary\n")[2].partition("\n## ")[0]
    lines = [line for line in glossary.splitlines() if line.startswith("| ")][1:]
    found = ROW.findall(glossary)
    assert len(found) == len(lines), "a row of the glossary is written in another way"
    return found


def test_each_word_stands_once_in_the_glossary() -> None:
    words = [word for word, _ in rows()]
    assert len(words) == len(set(words)) >= 25


def test_each_word_is_used_by_the_module_that_it_names() -> None:
    missing = [
        (word, module)
        for word, module in rows()
        if not (ROOT / module).is_file() or word not in (ROOT / module).read_text().lower()
    ]
    assert missing == []
