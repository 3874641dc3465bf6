"""What the workers found of each MCP server, kept a week for the page of the administrators."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache
from django.utils import timezone
from pydantic import ValidationError
from redis.exceptions import RedisError

from agents.tools.mcp.report import ServerReport, reports
from agents.tools.mcp.servers import McpServer

logger = logging.getLogger(__name__)

_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True)
class SeenServer:
    """A server that is set up, and how a worker found it last; None where none has used it."""

    server: McpServer
    report: ServerReport | None = None
    at: datetime | None = None


def keep_seen(servers: Sequence[McpServer]) -> None:
    """Keep what this process knows of the servers that it has used; nothing is raised for it."""
    try:
        for report in reports(servers):
            kept = (timezone.now(), report.model_dump_json())
            cache.set(_key(report.name), kept, _SECONDS)
    except RedisError:
        logger.warning("What was found of the MCP servers could not be kept", exc_info=True)


def seen(servers: Sequence[McpServer]) -> list[SeenServer]:
    """Return each server that is set up with what was kept of it."""
    kept = cache.get_many([_key(server.name) for server in servers])
    return [_seen(server, kept.get(_key(server.name))) for server in servers]


def _seen(server: McpServer, kept: tuple[datetime, str] | None) -> SeenServer:
    if kept is None:
        return SeenServer(server)
    at, text = kept
    try:
        return SeenServer(server, ServerReport.model_validate_json(text), at)
    except ValidationError:  # another release kept it
        return SeenServer(server)


def _key(name: str) -> str:
    return f"mcp-server:{name}"
