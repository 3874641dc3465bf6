"""Tools of MCP servers as tools of ours, named `server__tool`.

What a server says of its tools is a stranger's text in a prompt: it is cut, put on one line and
said to be the server's.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agents.contracts import Image
from agents.control import Control
from agents.errors import AgentError, ConfigurationError, Stopped, ToolFailed
from agents.tools.json_inputs import JsonInputs, readable
from agents.tools.mcp.connection import McpConnection, connection
from agents.tools.mcp.resources import resource_tools
from agents.tools.mcp.servers import McpServer
from agents.tools.spec import Safety, Tool
from agents.waiting import until

if TYPE_CHECKING:
    from mcp import types

logger = logging.getLogger(__name__)

ALL = "mcp"
"""The name that stands for every tool of every server."""

MARK = "__"
LISTING_SECONDS = 20.0

_ASKING = frozenset({Safety.SENSITIVE, Safety.DANGEROUS})
_MAX_TOOLS = 100
_DESCRIPTION = 600
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


def is_mcp(name: str) -> bool:
    """Tell a name of an MCP server's tools: `mcp`, `server__*` or `server__tool`."""
    return name == ALL or MARK in name


def mcp_tools(
    names: Iterable[str], servers: Sequence[McpServer], control: Control | None = None
) -> list[Tool]:
    """Return the tools of these names, without those whose server cannot be reached now.

    Waits `LISTING_SECONDS` at most, for all servers at once and on their first use only. Raises
    ConfigurationError for a name of a server that is not set up, and what `control.check` raises.
    """
    wanted = list(names)
    asked = [server for server in servers if any(_is_of(name, server) for name in wanted)]
    for name in wanted:
        if name != ALL and not any(_is_of(name, server) for server in servers):
            there_are = ", ".join(server.name for server in servers) or "none"
            raise ConfigurationError(f"{name!r} is of no MCP server; there are: {there_are}.")
    if not asked:
        return []
    offers = _asked(asked, control or Control())
    found: dict[str, Tool] = {}
    for tool in (tool for offer in offers for tool in offer if _is_wanted(tool.name, wanted)):
        found.setdefault(re.sub(r"[_-]+", "_", tool.name.lower()), tool)
    return list(found.values())


def unreachable(servers: Iterable[McpServer]) -> dict[str, str]:
    """Return the servers that could not be reached when last tried, each with the reason."""
    connections = [connection(server) for server in servers]
    return {f"{one.server.name}{MARK}*": one.failure for one in connections if one.failure}


def _is_of(name: str, server: McpServer) -> bool:
    return name == ALL or name.startswith(server.name + MARK)


def _is_wanted(name: str, wanted: Iterable[str]) -> bool:
    server = name.partition(MARK)[0]
    return not {ALL, f"{server}{MARK}*", name}.isdisjoint(wanted)


def _asked(servers: Sequence[McpServer], control: Control) -> list[list[Tool]]:
    """Return what each server offers, asked all at once."""
    own = Control(LISTING_SECONDS)
    with ThreadPoolExecutor(len(servers), "mcp-listing") as threads:
        calls = [threads.submit(copy_context().run, _offered, one, own) for one in servers]
        try:
            until(lambda seconds: not wait(calls, seconds).not_done, control)
        finally:
            own.stop()
        return [call.result() for call in calls]


def _offered(server: McpServer, control: Control) -> list[Tool]:
    link = connection(server)
    try:
        listed = link.tools(control)
    except Stopped:
        return []
    except AgentError as error:
        logger.warning("The tools of the MCP server %s are missing: %s", server.name, error)
        return []
    tools: list[Tool] = []
    for told in listed[:_MAX_TOOLS]:
        if server.tools and told.name not in server.tools:
            continue
        try:
            tools.append(_tool(link, told))
        except ConfigurationError as error:
            name = readable(told.name, 80)
            logger.warning("%s of %s is not offered: %s", name, server.name, error)
    tools += _readers(link, {tool.name for tool in tools})
    link.offered = [
        (tool.name, tool.description[:_DESCRIPTION], tool.safety in _ASKING) for tool in tools
    ]
    return tools


def _readers(link: McpConnection, taken: Collection[str]) -> list[Tool]:
    """Return the tools for the server's resources, unless names are given to its own."""
    if not link.has_resources():
        return []
    wanted = [f"{link.server.name}{MARK}{name}" for name in link.server.tools]
    return [
        tool
        for tool in resource_tools(link, MARK)
        if tool.name not in taken and (not wanted or tool.name in wanted)
    ]


def _tool(link: McpConnection, told: "types.Tool") -> Tool:
    server = link.server
    plain = _UNFIT.sub("_", told.name).strip("_-")[:60]
    if not plain or "control" in told.input_schema.get("properties", ()):
        raise ConfigurationError("its name, or that of an input, cannot be used here")
    said = readable(told.description or told.title or "", _DESCRIPTION) or "(it does not say)"
    hints = told.annotations
    return Tool(
        name=f"{server.name}{MARK}{plain}",
        description=f"{plain.replace('_', ' ')}. The server {server.name} says of it: {said}",
        inputs=JsonInputs(told.input_schema),
        run=_runner(link, told.name),
        timeout=server.timeout,
        safety=_safety(server, hints),
        idempotent=bool(hints and (hints.read_only_hint or hints.idempotent_hint)),
        wants_control=True,
        reaches_out=_reaches_out(server, hints),
        brings_in=True,
        reads_only=bool(hints and hints.read_only_hint),
    )


def _safety(server: McpServer, hints: "types.ToolAnnotations | None") -> Safety:
    """Return the administrator's word, else that a person is asked before what destroys."""
    if "safety" in server.model_fields_set or hints is None or hints.read_only_hint:
        return server.safety
    return Safety.SENSITIVE if hints.destructive_hint else server.safety


def _reaches_out(server: McpServer, hints: "types.ToolAnnotations | None") -> bool:
    """Tell whether inputs may leave this machine: as the administrator, else the server says."""
    if server.reaches_out is not None:
        return server.reaches_out
    return hints is None or hints.open_world_hint is not False


def _runner(link: McpConnection, name: str) -> Callable[..., Iterator[str | Image]]:
    def run(*, control: Control, **inputs: Any) -> Iterator[str | Image]:
        result = yield from link.call(name, inputs, control)
        text = "\n".join(filter(None, map(_text, result.content)))
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        if result.is_error:
            raise ToolFailed(text or "The tool failed and did not say why.")
        yield text or "(the tool gave no text)"
        yield from _images(result.content)

    return run


def _images(blocks: Iterable["types.ContentBlock"]) -> Iterator[Image]:
    """Yield the pictures of a result, without those that are none."""
    for block in blocks:
        if block.type == "image":
            with suppress(ValidationError):
                yield Image(media_type=block.mime_type, data=block.data)


def _text(block: "types.ContentBlock") -> str:
    """Return a part of a result as text; what is no text is named, not shown."""
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return f"[{block.type}, {block.mime_type[:60]}, {len(block.data) * 3 // 4:,} bytes]"
        case "resource_link":
            return f"[resource {block.name[:200]}: {str(block.uri)[:500]}]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if isinstance(text, str) else f"[resource {str(block.resource.uri)[:500]}]"
