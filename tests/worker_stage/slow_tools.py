"""An MCP server with a tool that takes as long as one has patience: `python slow_tools.py FILE`.

The file gets a line when a call begins. Given a second file it writes one there, and never starts.
"""

import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("slow")


@server.tool()
def wait(seconds: float) -> str:
    """Wait for some seconds."""
    with Path(sys.argv[1]).open("a") as calls:
        calls.write(f"{seconds}\n")
    time.sleep(seconds)
    return "waited"


if __name__ == "__main__":
    for started in sys.argv[2:]:
        Path(started).write_text("mute\n")
        time.sleep(120)
    server.run("stdio")
