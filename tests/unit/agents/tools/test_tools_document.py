"""What docs/tools.md says of the tools is so."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.tools.catalogue import TOOLS, not_offered, toolkit
from agents.tools.mcp.servers import read_servers

DOCUMENT = (Path(__file__).parents[4] / "docs" / "tools.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found
    return found[1]


def test_the_example_of_a_tool_works(observe: Callable[..., Any]) -> None:
    scope: dict[str, Any] = {}
    exec(block("python"), scope)  # noqa: S102 - it is ours

    assert observe(scope["reverse"], {"text": "abc"}).observation.text == "cba"


def test_the_example_of_mcp_servers_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(block("json"))

    assert {server.name for server in read_servers(file)} == json.loads(block("json"))[
        "mcpServers"
    ].keys()


def test_every_tool_is_in_the_table() -> None:
    rows = [line for line in DOCUMENT.splitlines() if line.startswith("| `")]
    told = set(re.findall(r"`(\w+)`", " ".join(rows)))
    here = TOOLS.keys() - not_offered().keys()

    assert set(TOOLS) | set(toolkit(here, find_turns=lambda _: []).names) <= told
