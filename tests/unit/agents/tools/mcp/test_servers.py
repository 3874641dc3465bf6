"""The file of MCP servers is read as other programs read it, and refused in words."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.errors import ConfigurationError
from agents.tools.mcp.servers import McpServer, read_servers


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


def test_servers_are_read_in_the_common_format(file: Path) -> None:
    told = {
        "files": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "v"}, "type": "stdio"},
        "remote": {"url": "https://mcp.example/mcp", "headers": {"Authorization": "Bearer x"}},
        "old": {"command": "x", "disabled": True},
    }
    file.write_text(json.dumps({"mcpServers": told, "other": 1}))

    assert read_servers(file) == (
        McpServer(name="files", command="npx", args=("-y", "server"), env={"KEY": "v"}),
        McpServer(
            name="remote", url="https://mcp.example/mcp", headers={"Authorization": "Bearer x"}
        ),
    )


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ({}, "give either a command or a url"),
        ({"command": "x", "url": "http://a"}, "give either a command or a url"),
        ({"url": "file:///sk-secret"}, "must begin with http"),
        ({"command": "x", "env": {"KEY": ["sk-secret"]}}, "env.KEY"),
        ({"command": "x", "timeout": 0}, "timeout"),
        ({"command": "x", "autoApprove": ["sk-secret"]}, "autoApprove"),
        ("sk-secret", "is not an object"),
    ],
)
def test_a_server_that_is_not_set_up_right_is_named_but_no_value(
    file: Path, server: Any, problem: str
) -> None:
    file.write_text(json.dumps({"mcpServers": {"mine": server}}))

    with pytest.raises(ConfigurationError) as raised:
        read_servers(file)

    assert "'mine'" in str(raised.value)
    assert problem in str(raised.value)
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["", "a__b", "a b", "-a", "a/b", "x" * 41])
def test_a_name_that_tools_could_not_bear_is_refused(file: Path, name: str) -> None:
    file.write_text(json.dumps({"mcpServers": {name: {"command": "x"}}}))

    with pytest.raises(ConfigurationError, match="not set up right"):
        read_servers(file)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"mcpServers": []}', "[" * 100_000])
def test_a_file_of_another_shape_is_refused(file: Path, text: str) -> None:
    file.write_text(text)

    with pytest.raises(ConfigurationError, match=r"mcp\.json"):
        read_servers(file)


def test_a_file_that_is_not_there_is_refused(file: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        read_servers(file)
