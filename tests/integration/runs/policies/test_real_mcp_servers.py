"""Runs use real MCP servers of other makers; what destroys waits for the person."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from agents.tools.mcp.connection import connection
from agents.tools.mcp.servers import read_servers
from chat.models import Run, RunStatus, User
from chat.runs.approvals import decide
from tests.integration.here import here
from tests.unit.agents.tools.mcp.real_servers import EVERYTHING, FILES, MEMORY, node

ANSWER = {"say": "Thought: I know now.\nFinal Answer: Done."}


def act(tool: str, **inputs: Any) -> dict[str, str]:
    return {"say": f"Thought: Next.\nAction: {tool}\nAction Input: {json.dumps(inputs)}"}


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Make a folder under version control with a file in it."""
    shelf = tmp_path / "shelf"
    subprocess.run(["git", "init", "-q", "-b", "main", str(shelf)], check=True)
    (shelf / "note.txt").write_text("remember")
    return shelf


@pytest.fixture
def servers(set_up: Callable[..., None], shelf: Path, tmp_path: Path) -> Any:
    """Set up four servers; what was started is ended with the test."""
    memory = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    git = ["-m", "mcp_server_git", "--repository", str(shelf)]
    told: dict[str, dict[str, Any]] = {
        "all": {"command": node(), "args": [str(EVERYTHING), "stdio"]},
        "files": {"command": node(), "args": [str(FILES), str(shelf)]},
        "memory": {"command": node(), "args": [str(MEMORY)], "env": memory},
        "git": {"command": sys.executable, "args": git},
    }
    file = tmp_path / "mcp.json"
    near = {name: one | {"reaches_out": False} for name, one in told.items()}
    file.write_text(json.dumps({"mcpServers": near}))
    set_up(TURNSTONE_MCP=str(file))
    yield
    for server in read_servers(file):
        connection(server).close()


def observations(run: Run) -> list[str]:
    turns = [turn.as_contract() for turn in run.turns.order_by("index")]
    seen = [action.observation for turn in turns for action in turn.actions]
    return [one.text for one in seen if one is not None]


@pytest.mark.usefixtures("servers")
def test_a_run_uses_four_servers_and_the_administrator_sees_them(
    asked: Callable[..., Run], ada: User, bob: User, client: Client, shelf: Path
) -> None:
    ada_lovelace = {"name": "Ada", "entityType": "person", "observations": ["wrote notes"]}
    script = [
        act("all__get-sum", a=2, b=40),
        act("files__read_text_file", path=str(shelf / "note.txt")),
        act("memory__create_entities", entities=[ada_lovelace]),
        act("git__git_status", repo_path=str(shelf)),
        ANSWER,
    ]
    run = asked(script, tools=("mcp",))

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "Done.")
    sums, note, graph, status = observations(run)
    assert sums == "The sum of 2 and 40 is 42."
    assert note == "remember"
    assert "wrote notes" in graph
    assert "note.txt" in status

    client.force_login(bob)
    assert client.get("/admin/mcp/").status_code == 302
    client.force_login(User.objects.create_superuser("root", password="root-secret-1"))
    page = client.get("/admin/mcp/").content.decode()
    for told in ("files__read_text_file", "memory-server", "mcp-git", "Last words on stderr"):
        assert told in page
    assert str(EVERYTHING) not in page
    assert "/admin/mcp/" in client.get("/admin/").content.decode()


@pytest.mark.usefixtures("servers")
def test_what_destroys_waits_for_a_yes(asked: Callable[..., Run], ada: User, shelf: Path) -> None:
    note = shelf / "note.txt"
    run = asked([act("files__write_file", path=str(note), content="new"), ANSWER], tools=("mcp",))

    here().work(run.pk)
    run.refresh_from_db()
    assert (run.status, note.read_text()) == (RunStatus.WAITING, "remember")

    decide(run.approvals.get(), by=ada, grant=True)
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, note.read_text()) == (RunStatus.SUCCEEDED, "new")


def test_a_page_without_servers_says_so_and_a_stranger_is_sent_away(
    client: Client, ada: User, set_up: Callable[..., None], tmp_path: Path
) -> None:
    assert client.get("/admin/mcp/").status_code == 302
    client.force_login(ada)
    assert client.get("/admin/mcp/").status_code == 302
    client.force_login(User.objects.create_superuser("root", password="root-secret-1"))
    assert "No MCP server is set up" in client.get("/admin/mcp/").content.decode()

    set_up(TURNSTONE_MCP=str(tmp_path / "missing.json"))

    assert "cannot be read" in client.get("/admin/mcp/").content.decode()


def test_a_server_that_no_run_has_used_is_shown_as_such(
    client: Client, ada: User, set_up: Callable[..., None], tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    idle = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer s3cret"}}
    file.write_text(json.dumps({"mcpServers": {"idle-one": idle}}))
    set_up(TURNSTONE_MCP=str(file))
    client.force_login(User.objects.create_superuser("root", password="root-secret-1"))

    page = client.get("/admin/mcp/").content.decode()

    assert "idle-one" in page
    assert "No run has used it this week." in page
    assert "s3cret" not in page
