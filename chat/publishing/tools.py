"""The tools that a version may name, each with what it does and why it may be missing here."""

from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings

from agents.tools.catalogue import TOOLS, described, not_offered, reaching_out
from agents.tools.mcp.tools import ALL, MARK
from agents.tools.setup import tool_setup

CLOSED = "Reaches out, and the network is closed here: no run is given it."
ALL_SERVERS = "Every tool of every MCP server."
NO_SERVER = "No MCP server is set up here."


class OfferedTool(NamedTuple):
    """A name that a version may have among its tools."""

    name: str
    explained: str
    missing: str
    is_chosen: bool


def tools_to_choose(chosen: Iterable[str]) -> list[OfferedTool]:
    """Return every tool of ours, and what each MCP server offers as a whole."""
    named = set(chosen)
    setup = tool_setup(settings.TOOL_ENVIRONMENT)
    reasons = not_offered(setup)
    if not settings.NETWORK_TOOLS:
        reasons = dict.fromkeys(reaching_out(), CLOSED) | reasons
    if not setup.mcp_servers:
        reasons = {ALL: NO_SERVER} | reasons
    explained = {name: _explained(name) for name in TOOLS}
    explained |= {f"{one.name}{MARK}*": f"The MCP server {one.name}." for one in setup.mcp_servers}
    explained[ALL] = ALL_SERVERS
    return [
        OfferedTool(name, words, reasons.get(name, ""), name in named)
        for name, words in explained.items()
    ]


def _explained(name: str) -> str:
    told = described([name])
    if len(told) > 1:
        return "Tools: " + ", ".join(one["name"] for one in told) + "."
    return str(told[0]["description"]).split("\n")[0] if told else ""
