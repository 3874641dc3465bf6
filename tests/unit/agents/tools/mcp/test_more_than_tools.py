"""Resources, progress, changed tools, warnings and stderr of servers are made use of."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.contracts import ToolCall
from agents.control import Control
from agents.tools.inputs import describe_inputs
from agents.tools.mcp.connection import connection
from agents.tools.mcp.report import reports
from agents.tools.mcp.servers import McpServer
from agents.tools.spec import Safety
from tests.unit.agents.tools.mcp.real_servers import EVERYTHING, FILES, MEMORY, call, node, offers

GROWING = """
import sys
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("growing")

def later() -> str:
    "Come later."
    return "here"

@server.tool()
async def grow(ctx: Context) -> str:
    "Offer one tool more."
    server.add_tool(later)
    await ctx.notify_tools_changed()
    return "grown"

@server.tool()
async def flood(ctx: Context) -> str:
    "Tell of progress again and again."
    for step in range(500):
        await ctx.report_progress(step, 500, "line\\n" * 900)
    return "done"

@server.tool()
def warn(text: str) -> str:
    "Write to stderr."
    print(text * 3000, "\\x1b[31mlast\\x00 words", file=sys.stderr, flush=True)
    return "warned"

server.run("stdio")
"""


OLDER = """
import json, sys

tools, texts = ["grow"], {"grow": "grown", "later": "here"}

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    match asked["method"]:
        case "initialize":
            told = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            told |= {"serverInfo": {"name": "older", "version": "1"}}
        case "tools/list":
            told = {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in tools]}
        case "tools/call":
            name = asked["params"]["name"]
            told = {"content": [{"type": "text", "text": texts[name]}]}
            if name == "grow":
                tools.append("later")
                say(method="notifications/tools/list_changed")
        case _:
            if "id" in asked:
                say(id=asked["id"], error={"code": -32601, "message": "Method not found"})
            continue
    say(id=asked["id"], result=told)
"""


@pytest.fixture
def growing(serve: Callable[..., McpServer], tmp_path: Path) -> McpServer:
    program = tmp_path / "growing.py"
    program.write_text(GROWING)
    return serve("growing", command=sys.executable, args=(str(program),))


def test_what_a_server_has_to_read_is_listed_and_read(everything: McpServer) -> None:
    kit = offers(everything)

    listed = call(kit, "all__list_resources").text
    uri = "demo://resource/static/document/architecture.md"

    assert f'{{"uri": "{uri}", "name": "architecture.md"' in listed
    assert '"uri": "demo://resource/dynamic/text/{resourceId}"' in listed
    assert call(kit, "all__read_resource", uri=uri).text.startswith("# Everything Server")
    assert "resource" in call(kit, "all__read_resource", uri="demo://resource/dynamic/blob/1").text


def test_what_is_not_there_to_read_is_an_error(everything: McpServer) -> None:
    kit = offers(everything)

    assert call(kit, "all__read_resource", uri="demo://nothing").error == "ToolFailed"
    assert call(kit, "all__echo", message="there").text == "Echo: there"


def test_reading_asks_as_the_server_may_reach_out(
    serve: Callable[..., McpServer], everything: McpServer
) -> None:
    near = serve("near", command=node(), args=(str(EVERYTHING), "stdio"), reaches_out=False)

    assert offers(everything).get("all__read_resource").reaches_out
    assert not offers(near).get("near__read_resource").reaches_out
    assert offers(near).get("near__list_resources").brings_in


def test_a_server_with_nothing_to_read_gets_no_tools_for_it(growing: McpServer) -> None:
    assert offers(growing).names == ("growing__grow", "growing__flood", "growing__warn")


def test_how_far_a_call_has_come_is_shown_while_it_runs(everything: McpServer) -> None:
    tool = ToolCall(
        tool="all__trigger-long-running-operation", inputs={"duration": 0.4, "steps": 2}
    )
    events = offers(everything).call(tool, Control())

    assert next(events).text == "[1 of 2]\n"
    assert next(events).text == "[2 of 2]\n"


def test_progress_is_bounded_and_on_lines(growing: McpServer) -> None:
    text = call(offers(growing), "growing__flood").text

    assert text.endswith("\ndone")
    assert text.count("\n") == 200
    assert max(map(len, text.splitlines())) < 250


@pytest.mark.parametrize("program", [GROWING, OLDER], ids=["today's protocol", "an older one"])
def test_a_tool_that_is_offered_later_is_there_for_the_next_run(
    serve: Callable[..., McpServer], tmp_path: Path, program: str
) -> None:
    file = tmp_path / "server.py"
    file.write_text(program)
    server = serve("later", command=sys.executable, args=(str(file),))
    kit = offers(server)
    assert "later__later" not in kit.names

    assert call(kit, "later__grow").text == "grown"

    while "later__later" not in (kit := offers(server)).names:
        threading.Event().wait(0.02)  # the news of it may come after the result
    assert call(kit, "later__later").text == "here"


def test_the_last_words_of_a_server_are_kept_within_bounds(growing: McpServer) -> None:
    assert call(offers(growing), "growing__warn", text="word ").text == "warned"

    [report] = reports([growing])
    assert report.last_words.endswith(" words")
    assert len(report.last_words) <= 4_000
    assert "\x1b" not in report.last_words
    assert "\x00" not in report.last_words


def test_a_server_that_breaks_off_at_its_start_is_reported_with_its_words(
    serve: Callable[..., McpServer],
) -> None:
    program = "import sys; sys.exit('No database is set up.')"
    broken = serve("broken", command=sys.executable, args=("-c", program))

    assert offers(broken).names == ()

    [report] = reports([broken])
    assert "cannot be reached" in report.failure or "says" in report.failure
    assert report.last_words == "No database is set up."


def test_a_server_that_no_run_has_used_has_no_report(serve: Callable[..., McpServer]) -> None:
    idle = serve("idle", command=node(), args=(str(EVERYTHING), "stdio"))
    connection(idle)

    assert reports([idle]) == []


def test_a_report_names_the_tools_and_which_of_them_ask(
    serve: Callable[..., McpServer], tmp_path: Path
) -> None:
    files = serve("files", command=node(), args=(str(FILES), str(tmp_path)))
    offers(files)

    [report] = reports([files])
    asks = {tool.name: tool.asks for tool in report.tools}

    assert report.program.startswith("secure-filesystem-server")
    assert (asks["files__write_file"], asks["files__read_text_file"]) == (True, False)


@pytest.mark.parametrize(
    ("told", "safety"), [({}, Safety.SENSITIVE), ({"safety": "moderate"}, Safety.MODERATE)]
)
def test_what_destroys_asks_unless_the_administrator_says_otherwise(
    serve: Callable[..., McpServer], told: dict[str, str], safety: Safety, tmp_path: Path
) -> None:
    kit = offers(serve("files", command=node(), args=(str(FILES), str(tmp_path)), **told))

    assert kit.get("files__write_file").safety is safety
    assert kit.get("files__read_text_file").safety is Safety.MODERATE


def test_nested_inputs_of_a_server_are_told_with_their_fields(
    serve: Callable[..., McpServer], tmp_path: Path
) -> None:
    memory = serve(
        "memory",
        command=node(),
        args=(str(MEMORY),),
        env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
    )
    kit = offers(memory)
    told = describe_inputs(kit.get("memory__create_entities"))
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote notes"]}

    assert '"entityType": {"type": "string"' in told
    assert '"required": ["name", "entityType", "observations"]' in told
    assert "Ada" in call(kit, "memory__create_entities", entities=[ada]).text
    assert "wrote notes" in call(kit, "memory__read_graph").text
