"""An MCP server with a tool that takes as long as one has patience: `python slow_tools.py FILE`.

The file gets a line when a call begins. Given a second file it writes one there, and never starts.
"""

import asyncio
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("slow")


@server.tool()
def wait(seconds: float) -> str:
    """Wait for some seconds."""
    _note(f"{seconds}")
    time.sleep(seconds)
    return "waited"


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
async def look(seconds: float) -> str:
    """Look at something for some seconds, and change nothing."""
    _note(f"look {seconds}")
    await asyncio.sleep(seconds)
    return f"looked {seconds:g}"


def _note(call: str) -> None:
    with Path(sys.argv[1]).open("a") as calls:
        calls.write(f"{call}\n")


if __name__ == "__main__":
    for started in sys.argv[2:]:
        Path(started).write_text("mute\n")
        time.sleep(120)
    server.run("stdio")
