"""Resources of MCP servers, listed and read by two tools of each server that has some."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agents.contracts import Image
from agents.control import Control
from agents.tools.json_inputs import JsonInputs, readable
from agents.tools.mcp.connection import McpConnection
from agents.tools.spec import Tool

if TYPE_CHECKING:
    from mcp import types

LIST, READ = "list_resources", "read_resource"

_LISTED = 200
_DESCRIPTION = 300
_NO_INPUTS = {"type": "object", "properties": {}, "additionalProperties": False}
_URI = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "as it stands in the list"}},
    "required": ["uri"],
    "additionalProperties": False,
}


def resource_tools(link: McpConnection, mark: str) -> list[Tool]:
    """Return the tools that list and read what the server has beside its tools.

    `mark` stands between the server's name and the tool's. What is asked for leaves this machine as
    the administrator says of the server, and may where that is not said.
    """
    server = link.server

    def listed(*, control: Control) -> Iterator[str]:
        found = link.resources(control)
        for resource in found[:_LISTED]:
            yield json.dumps(_described(resource), ensure_ascii=False) + "\n"
        if len(found) > _LISTED:
            yield f"[{len(found) - _LISTED} more are left out here]\n"
        if not found:
            yield "(the server has no resources now)"

    def read(*, uri: str, control: Control) -> Iterator[str | Image]:
        for content in link.read(uri, control):
            yield from contents(content)

    common: dict[str, Any] = {
        "timeout": server.timeout,
        "safety": server.safety,
        "wants_control": True,
        "brings_in": True,
    }
    return [
        Tool(
            name=f"{server.name}{mark}{LIST}",
            description=f"List what can be read from the server {server.name}, with addresses.",
            inputs=JsonInputs(_NO_INPUTS),
            run=listed,
            **common,
        ),
        Tool(
            name=f"{server.name}{mark}{READ}",
            description=f"Read one resource of the server {server.name} by its address (uri).",
            inputs=JsonInputs(_URI),
            run=read,
            reaches_out=server.reaches_out is not False,
            **common,
        ),
    ]


def contents(
    content: "types.TextResourceContents | types.BlobResourceContents",
) -> Iterator[str | Image]:
    """Yield the text of a resource, or its picture; what is neither is named."""
    text = getattr(content, "text", None)
    if isinstance(text, str):
        yield text if text.endswith("\n") else f"{text}\n"
        return
    kind, data = content.mime_type or "unknown type", str(getattr(content, "blob", ""))
    yield f"[resource {str(content.uri)[:500]}, {kind[:60]}, {len(data) * 3 // 4:,} bytes]\n"
    if kind.startswith("image/"):
        try:
            yield Image(media_type=kind, data=data)
        except ValidationError:
            return


def _described(resource: "types.Resource | types.ResourceTemplate") -> dict[str, str]:
    """Return what the server says of a resource, or of a pattern of addresses, cut to a line."""
    address = getattr(resource, "uri", None) or getattr(resource, "uri_template", "")
    told = {
        "uri": str(address)[:500],
        "name": readable(resource.title or resource.name, _DESCRIPTION),
        "description": readable(resource.description or "", _DESCRIPTION),
        "type": readable(resource.mime_type or "", 100),
    }
    return {name: value for name, value in told.items() if value}
