"""Policy files, and the command that looks after policies."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

CONTENT: dict[str, Any] = {
    "slug": "french",
    "name": "French ReAct",
    "policy": "explicit",
    "tools": ["calculator"],
    "instructions": "Answer in French.",
    "limits": {"max_turns": 6},
}


@pytest.fixture
def policies(transactional_db: None) -> Callable[..., str]:
    """Run the command and return what it says: `policies("list")`."""

    def run(*words: str) -> str:
        out = StringIO()
        call_command("policies", *words, stdout=out)
        return out.getvalue()

    return run


@pytest.fixture
def policy_file(tmp_path: Path) -> Callable[..., str]:
    """Write a policy file and return its path: `policy_file(instructions="Be brief.")`."""

    def write(**fields: Any) -> str:
        path = tmp_path / "policy.json"
        path.write_text(json.dumps(CONTENT | fields), encoding="utf-8")
        return str(path)

    return write
