"""Policy files, the pages of policies, and the command that looks after policies."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from chat.models import Policy, User
from chat.policies import publish_seeds
from tests.integration.publishing.forms import Form, signed_in

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


@pytest.fixture
def reflexion(transactional_db: None) -> Policy:
    """Publish the policies of a fresh installation."""
    publish_seeds()
    return Policy.objects.get(slug="reflexion")


@pytest.fixture
def root(transactional_db: None) -> Client:
    """Sign in an administrator."""
    return signed_in(User.objects.create_superuser("root"))


@pytest.fixture
def form(reflexion: Policy) -> Form:
    """Fill the form in as the page would: `form(instructions="Be brief.", do="publish")`."""

    def fill(**fields: Any) -> dict[str, Any]:
        return {
            "after": str(reflexion.latest.number),
            "knobs_of": "reflexion",
            "slug": "mine",
            "name": "Reflexion",
            "description": "Tries again.",
            "policy": "reflexion",
            "instructions": "",
            "tools": ["calculator"],
            "limits.max_turns": "24",
            "settings.tries": "3",
            "model.provider": "demo",
            "do": "publish",
        } | {name.replace("__", "."): value for name, value in fields.items()}

    return fill
