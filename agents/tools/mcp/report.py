"""What this process knows of each MCP server, for the page of the administrators."""

from collections.abc import Iterable

from agents.contracts import Value
from agents.tools.mcp.connection import connection
from agents.tools.mcp.servers import McpServer

_TOOLS = 100


class OfferedTool(Value):
    """A tool as it is offered to policies; `asks` if a person is asked before each call."""

    name: str
    description: str
    asks: bool


class ServerReport(Value):
    """How a server was found when it was last used; nothing of how it is reached.

    `failure` says why it could not be reached, empty where it could. `last_words` is the end of
    what its process wrote to stderr, empty for one that was not started here.
    """

    name: str
    failure: str = ""
    program: str = ""
    tools: tuple[OfferedTool, ...] = ()
    last_words: str = ""


def reports(servers: Iterable[McpServer]) -> list[ServerReport]:
    """Return a report on each server that this process has used; none is called for this."""
    used = [link for link in map(connection, servers) if link.was_used]
    return [
        ServerReport(
            name=link.server.name,
            failure=link.failure,
            program=link.program,
            tools=tuple(
                OfferedTool(name=name, description=description, asks=asks)
                for name, description, asks in link.offered[:_TOOLS]
            ),
            last_words=link.last_words.text,
        )
        for link in used
    ]
