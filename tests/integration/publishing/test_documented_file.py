"""The policy file of docs/policies.md can be published, but for the server that is not here."""

import re
from collections.abc import Callable
from pathlib import Path

from chat.models import Policy

DOCS = Path(__file__).resolve().parents[3] / "docs" / "policies.md"


def test_the_documented_file_is_published(policies: Callable[..., str], tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    path = tmp_path / "french.toml"
    path.write_text(found[1].replace(', "files__*"', ""), encoding="utf-8")

    policies("publish", str(path))

    spec = Policy.objects.get(slug="french").latest.spec
    assert (spec.policy, spec.settings, spec.approve) == ("reflexion", {"tries": 2}, ("python_*",))
