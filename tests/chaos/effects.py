"""An MCP server whose tools leave a mark in a file, so that it can be counted who ran how often.

`python -m tests.chaos.effects PORT FILE`; the mark is made in the middle of the call, so that a
worker may be killed before it and after it.
"""

import random
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

MAX_PAUSE = 0.4

server = MCPServer("marks")
chance = random.Random()
file = Path(sys.argv[2])


@server.tool()
def mark(token: str) -> str:
    """Make a mark; made twice, there are two."""
    return _leave("mark", token)


@server.tool(annotations=ToolAnnotations(idempotent_hint=True))
def look(token: str) -> str:
    """Look at a token, which may be done again without harm."""
    return _leave("look", token)


def _leave(kind: str, token: str) -> str:
    time.sleep(chance.uniform(0, MAX_PAUSE))
    with file.open("a") as marks:
        marks.write(f"{kind} {token}\n")
    time.sleep(chance.uniform(0, MAX_PAUSE))
    return f"{kind}ed {token}"


if __name__ == "__main__":
    server.run("streamable-http", port=int(sys.argv[1]), stateless_http=True)
