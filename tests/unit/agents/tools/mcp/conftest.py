"""MCP servers set up for one test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.tools.mcp.connection import connection
from agents.tools.mcp.servers import McpServer
from tests.unit.agents.tools.mcp.real_servers import EVERYTHING, node


@pytest.fixture
def serve() -> Iterator[Callable[..., McpServer]]:
    """Set up a server for one test; whatever is connected is closed at its end."""
    servers: list[McpServer] = []

    def serve(name: str, **told: Any) -> McpServer:
        servers.append(McpServer(name=name, **told))
        return servers[-1]

    yield serve
    for server in servers:
        connection(server).close()


@pytest.fixture
def everything(serve: Callable[..., McpServer]) -> McpServer:
    return serve("all", command=node(), args=(str(EVERYTHING), "stdio"), env={"GIVEN": "on"})
