"""Tools of real MCP servers are offered by name, called, and believed as far as they may be."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.contracts import Observation
from agents.errors import ConfigurationError
from agents.tools.mcp.connection import connection
from agents.tools.mcp.servers import McpServer
from agents.tools.mcp.tools import is_mcp, mcp_tools, unreachable
from tests.unit.agents.tools.mcp.real_servers import (
    EVERYTHING,
    FILES,
    call,
    node,
    offers,
    processes,
)

SILENT = """
from mcp.server import MCPServer

server = MCPServer("silent")

@server.tool()
def post(text: str) -> str:
    "Post a text."
    return "posted"

server.run("stdio")
"""


def test_the_tools_of_a_started_server_are_called_by_their_long_names(
    everything: McpServer,
) -> None:
    kit = offers(everything)

    assert call(kit, "all__echo", message="hi") == Observation(text="Echo: hi")
    assert call(kit, "all__get-sum", a=2, b=40).text == "The sum of 2 and 40 is 42."
    assert kit.get("all__echo").description == (
        "echo. The server all says of it: Echoes back the input string"
    )


def test_results_that_are_no_text_are_named(everything: McpServer) -> None:
    kit = offers(everything)

    pictured = call(kit, "all__get-tiny-image")
    assert "[image, image/png, " in pictured.text
    assert [image.media_type for image in pictured.images] == ["image/png"]
    assert "temperature" in call(kit, "all__get-structured-content", location="New York").text
    assert "[resource" in call(kit, "all__get-resource-links", count=1).text


def test_inputs_are_checked_before_the_server_sees_them(everything: McpServer) -> None:
    seen = call(offers(everything), "all__get-sum", a="two")

    assert seen.error == "InvalidInputs"
    assert "Missing required input: b" in seen.text
    assert "a: Input should be of type number" in seen.text


def test_a_started_server_gets_only_the_environment_it_is_given(
    everything: McpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    given = json.loads(call(offers(everything), "all__get-env").text)

    assert given["GIVEN"] == "on"
    assert given.keys() <= {"GIVEN", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}


def test_a_tool_that_fails_says_why(serve: Callable[..., McpServer], tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("remember")
    kit = offers(serve("files", command=node(), args=(str(FILES), str(tmp_path))))

    inside = call(kit, "files__read_text_file", path=str(tmp_path / "note.txt"))
    outside = call(kit, "files__read_text_file", path="/etc/passwd")

    assert inside == Observation(text="remember")
    assert outside.error == "ToolFailed"
    assert "Access denied" in outside.text


@pytest.mark.parametrize(
    ("told", "may_leave"),
    [({}, False), ({"reaches_out": True}, True), ({"reaches_out": False}, False)],
)
def test_a_server_that_says_that_nothing_leaves_is_believed_unless_the_administrator_says_so(
    serve: Callable[..., McpServer], told: dict[str, bool], may_leave: bool
) -> None:
    command = {"command": sys.executable, "args": ("-m", "mcp_server_time")}
    found = offers(serve("time", **command, **told)).get("time__get_current_time")

    assert (found.reaches_out, found.brings_in) == (may_leave, True)


@pytest.mark.parametrize(("told", "may_leave"), [({}, True), ({"reaches_out": False}, False)])
def test_a_server_that_says_nothing_may_reach_anywhere(
    serve: Callable[..., McpServer], told: dict[str, bool], may_leave: bool, tmp_path: Path
) -> None:
    program = tmp_path / "silent.py"
    program.write_text(SILENT)
    command = {"command": sys.executable, "args": (str(program),)}
    found = offers(serve("silent", **command, **told)).get("silent__post")

    assert (found.reaches_out, found.brings_in) == (may_leave, True)


def test_a_server_of_another_maker_in_python(serve: Callable[..., McpServer]) -> None:
    kit = offers(serve("time", command=sys.executable, args=("-m", "mcp_server_time")))

    assert "Europe/Paris" in call(kit, "time__get_current_time", timezone="Europe/Paris").text
    assert call(kit, "time__get_current_time", timezone="Mars/Base").error == "ToolFailed"


def test_only_the_tools_that_are_named_are_offered(everything: McpServer) -> None:
    one = mcp_tools(["all__echo"], [everything])
    every = mcp_tools(["all__*"], [everything])

    assert [tool.name for tool in one] == ["all__echo"]
    assert len(every) > 5


def test_the_administrator_may_offer_a_few_of_a_servers_tools(
    serve: Callable[..., McpServer],
) -> None:
    few = serve("few", command=node(), args=(str(EVERYTHING), "stdio"), tools=("echo",))

    assert offers(few).names == ("few__echo",)


def test_a_name_of_no_server_is_refused(everything: McpServer) -> None:
    with pytest.raises(ConfigurationError, match="'nope__x' is of no MCP server; there are: all"):
        mcp_tools(["nope__x"], [everything])


def test_no_server_is_started_before_its_tools_are_asked_for(everything: McpServer) -> None:
    connection(everything)

    assert unreachable([everything]) == {}
    assert processes(str(EVERYTHING)) == []


@pytest.mark.parametrize(
    ("name", "expected"), [("mcp", True), ("a__b", True), ("a__*", True), ("http_get", False)]
)
def test_a_name_of_mcp_tools_is_told_from_another(name: str, expected: bool) -> None:
    assert is_mcp(name) is expected
