"""The MCP servers that an administrator has set up, read from a file of the common format."""

import json
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from agents.contracts import Value
from agents.errors import ConfigurationError
from agents.tools.spec import Safety

_NAME = r"^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$"


class McpServer(Value):
    """How to reach one server: a command to start, or the address of a running one.

    `env` is all that a started server gets of the environment, but for PATH, HOME and the like.
    `timeout` is in seconds for one call; `tools` are those to offer, all of them when empty.
    `reaches_out` says whether what its tools are given may leave this machine; what the server says
    of itself counts where it is left out.
    """

    name: str = Field(pattern=_NAME, max_length=40)
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}
    timeout: float = Field(default=60.0, gt=0, le=3600)
    tools: tuple[str, ...] = ()
    safety: Safety = Safety.MODERATE
    reaches_out: bool | None = None

    @model_validator(mode="after")
    def _is_reached_in_one_way(self) -> "McpServer":
        if bool(self.command) == bool(self.url):
            raise ValueError("give either a command or a url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError("the url must begin with http:// or https://")
        return self


def read_servers(path: Path) -> tuple[McpServer, ...]:
    """Return the servers of a file `{"mcpServers": {name: {...}}}`; raises ConfigurationError.

    Servers that are marked as `disabled` are left out. A message never holds a value of the file,
    for keys are among them.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise ConfigurationError(f"{path} is not JSON.") from None
    servers = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(servers, dict):
        raise ConfigurationError(f'{path} has no "mcpServers" object.')
    return tuple(_server(path, name, told) for name, told in servers.items() if not _is_off(told))


def _is_off(told: Any) -> bool:
    return isinstance(told, dict) and told.get("disabled") is True


def _server(path: Path, name: str, told: Any) -> McpServer:
    if not isinstance(told, dict):
        raise ConfigurationError(f"{path}: the server {name!r} is not an object.")
    known = {key: value for key, value in told.items() if key not in ("type", "disabled", "name")}
    try:
        return McpServer.model_validate({"name": name, **known})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(
            f"{path}: the server {name[:60]!r} is not set up right: {where} {problem['msg']}."
        ) from None
