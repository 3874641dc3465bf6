"""Real MCP servers: where they are, how their tools are called, and their processes."""

import shutil
from pathlib import Path
from typing import Any

import psutil

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.tools.mcp.servers import McpServer
from agents.tools.mcp.tools import mcp_tools
from agents.tools.toolkit import Toolkit

SERVERS = Path(__file__).parents[5] / "node_modules/@modelcontextprotocol"
EVERYTHING = SERVERS / "server-everything/dist/index.js"
MEMORY = SERVERS / "server-memory/dist/index.js"
FILES = SERVERS / "server-filesystem/dist/index.js"


def node() -> str:
    found = shutil.which("node")
    assert found, "The tests need Node 20.15 or newer on the PATH."
    assert EVERYTHING.is_file(), "The tests need the MCP servers: run `npm ci` first."
    return found


def offers(*servers: McpServer) -> Toolkit:
    return Toolkit(mcp_tools(["mcp"], servers))


def call(kit: Toolkit, tool: str, /, control: Control | None = None, **inputs: Any) -> Observation:
    events = kit.call(ToolCall(tool=tool, inputs=inputs), control or Control())
    while True:
        try:
            next(events)
        except StopIteration as end:
            observation: Observation = end.value
            return observation


def processes(*words: str) -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [child for child in children if all(w in _command(child) for w in words)]


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""
