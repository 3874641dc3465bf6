"""What an administrator has set up for the tools, as read from the environment by the caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agents.errors import ConfigurationError
from agents.tools.mcp.servers import McpServer, read_servers
from agents.tools.web.address import Reach, reach_of
from agents.tools.web.arxiv import ARXIV
from agents.tools.web.wikipedia import WIKIPEDIA

VARIABLES = (
    "TURNSTONE_HTTP_ALLOW",
    "TURNSTONE_SEARXNG_URL",
    "TURNSTONE_SEARCH_PROXY",
    "TURNSTONE_WIKIPEDIA_URL",
    "TURNSTONE_ARXIV_URL",
    "TURNSTONE_CHROMIUM",
    "TURNSTONE_MCP",
)
"""The variables that `tool_setup` looks at."""
OF_EXTENSIONS = "TURNSTONE_EXTENSION_"
"""How the variables begin that are read by extensions only."""


@dataclass(frozen=True)
class ToolSetup:
    """Where the tools may go and what they use there; without any of it, the defaults.

    `mcp_problem` says what is wrong with the file of MCP servers, empty if nothing is.
    `extensions` are the variables that begin with TURNSTONE_EXTENSION_.
    """

    reach: Reach = field(default_factory=Reach)
    searxng_url: str = ""
    search_proxy: str = ""
    wikipedia_url: str = WIKIPEDIA
    arxiv_url: str = ARXIV
    chromium: str = ""
    mcp_servers: tuple[McpServer, ...] = ()
    mcp_problem: str = ""
    extensions: Mapping[str, str] = field(default_factory=dict)


def tool_setup(environment: Mapping[str, str]) -> ToolSetup:
    """Return the setup that these variables describe; a bad file of MCP servers offers none."""
    told = {name: environment.get(name, "").strip() for name in VARIABLES}
    servers, problem = _servers(told["TURNSTONE_MCP"])
    return ToolSetup(
        reach=reach_of(told["TURNSTONE_HTTP_ALLOW"].split(",")),
        searxng_url=told["TURNSTONE_SEARXNG_URL"],
        search_proxy=told["TURNSTONE_SEARCH_PROXY"],
        wikipedia_url=told["TURNSTONE_WIKIPEDIA_URL"] or WIKIPEDIA,
        arxiv_url=told["TURNSTONE_ARXIV_URL"] or ARXIV,
        chromium=told["TURNSTONE_CHROMIUM"],
        mcp_servers=servers,
        mcp_problem=problem,
        extensions={
            name: value for name, value in environment.items() if name.startswith(OF_EXTENSIONS)
        },
    )


def _servers(path: str) -> tuple[tuple[McpServer, ...], str]:
    try:
        return (read_servers(Path(path)) if path else ()), ""
    except ConfigurationError as error:
        return (), str(error)
