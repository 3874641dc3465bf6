"""Connections to MCP servers, held by one thread of the process and opened on first use.

Every wait of a caller heeds its Control; a server that is down, silent or gone is an error for the
one call, and is tried again on the next use.
"""

import asyncio
import atexit
import contextlib
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as WaitedInVain
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from agents.control import Control
from agents.errors import ToolFailed, ToolTimeout
from agents.tools.json_inputs import readable
from agents.tools.mcp_servers import McpServer

if TYPE_CHECKING:
    from mcp import Client, types

CONNECT_SECONDS = 20.0
PATIENCE = 30.0
"""Seconds before a server that could not be reached is tried again."""

_MAKING = threading.RLock()
_GLANCE = 0.1
_MOST_PAGES = 20
_REASON = 200

T = TypeVar("T")


class McpConnection:
    """One server; safe to use from any thread."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.failure = ""
        self._failed_at = float("-inf")
        self._opening = asyncio.Lock()
        self._link: _Link | None = None

    def tools(self, control: Control) -> Sequence["types.Tool"]:
        """Return what the server offers; raises ToolFailed if it cannot be reached, and Halted."""
        return _await(self._listed(), control)

    def call(self, tool: str, inputs: dict[str, Any], control: Control) -> "types.CallToolResult":
        """Return what the tool of that name says; raises ToolError, and Halted."""
        return _await(self._called(tool, inputs), control)

    def close(self) -> None:
        """End the connection, and the server if it was started for it."""
        link, self._link = self._link, None
        if link is not None:
            with contextlib.suppress(CancelledError, WaitedInVain):
                asyncio.run_coroutine_threadsafe(link.close(), _loop()).result(10)

    async def _listed(self) -> Sequence["types.Tool"]:
        return (await self._linked()).tools

    async def _called(self, tool: str, inputs: dict[str, Any]) -> "types.CallToolResult":
        from mcp import MCPError

        link = await self._linked()
        try:
            return await link.client.call_tool(
                tool, inputs, read_timeout_seconds=self.server.timeout
            )
        except MCPError as error:
            if link.is_gone or self.server.url:
                await self._drop(link)
            raise _in_words(self.server, error) from None
        except Exception as error:
            await self._drop(link)
            raise _in_words(self.server, error) from None

    async def _linked(self) -> "_Link":
        """Return the open link, opening it if there is none that lives."""
        async with self._opening:
            if self._link is not None and self._link.is_gone:
                await self._drop(self._link)
            if self._link is None:
                self._link = await self._opened()
            return self._link

    async def _opened(self) -> "_Link":
        if time.monotonic() - self._failed_at < PATIENCE:
            raise ToolFailed(self.failure)
        link = _Link(self.server)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await link.open()
        except asyncio.CancelledError:
            await link.close()
            raise
        except BaseException as error:
            await link.close()
            self.failure = str(_in_words(self.server, error))
            self._failed_at = time.monotonic()
            raise ToolFailed(self.failure) from None
        self.failure = ""
        return link

    async def _drop(self, link: "_Link") -> None:
        if self._link is link:
            self._link = None
        await link.close()


class _Link:
    """One open connection, entered and left by a task of its own, as the SDK demands."""

    client: "Client"

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._over = asyncio.Event()
        self._ended = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self.tools: Sequence[types.Tool] = ()

    @property
    def is_gone(self) -> bool:
        """Tell whether the other side has hung up."""
        return self._ended.is_set() or (self._task is not None and self._task.done())

    async def open(self) -> None:
        """Connect and list the tools; raises whatever goes wrong."""
        self._task = asyncio.create_task(self._hold())
        await asyncio.wait({self._ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            await self._task
        await self._ready

    async def close(self) -> None:
        """Disconnect; a server that was started gets a moment to end and is then killed."""
        self._over.set()
        if self._task is None:
            return
        if not self._ready.done():
            self._task.cancel()
        with contextlib.suppress(BaseException):
            await asyncio.wait({self._task}, timeout=8)
            self._task.cancel()

    async def _hold(self) -> None:
        from mcp import Client

        async with (
            _transport(self._server, self._ended.set) as transport,
            Client(transport) as client,
        ):
            self.client = client
            self.tools = await _every_tool(client)
            if not self._ready.done():
                self._ready.set_result(None)
            await self._over.wait()


async def _every_tool(client: "Client") -> list["types.Tool"]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools


@contextlib.asynccontextmanager
async def _transport(server: McpServer, gone: Callable[[], None]) -> AsyncIterator[Any]:
    """Yield the transport to a server, which tells by `gone` that the other side hung up."""
    import httpx2
    from mcp import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if server.url:
        timeout = httpx2.Timeout(30.0, read=server.timeout + 10)
        headers = dict(server.headers)
        async with httpx2.AsyncClient(headers=headers, timeout=timeout) as http:
            yield _Watched(streamable_http_client(server.url, http_client=http), gone)
        return
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd,
        encoding_error_handler="replace",
    )
    # A worker's own stderr may be no file, and a stranger's words have no place in its log.
    with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230 - it is not waited for
        yield _Watched(stdio_client(parameters, errlog=nowhere), gone)


class _Watched:
    """A transport whose stream of messages tells when it ends."""

    def __init__(self, transport: Any, gone: Callable[[], None]) -> None:
        self._transport = transport
        self._gone = gone

    async def __aenter__(self) -> tuple[Any, Any]:
        read, write = await self._transport.__aenter__()
        return _Telling(read, self._gone), write

    async def __aexit__(self, *failure: Any) -> Any:
        return await self._transport.__aexit__(*failure)


class _Telling:
    """A stream that is as the one within, and tells when it ends."""

    def __init__(self, stream: Any, gone: Callable[[], None]) -> None:
        self._stream = stream
        self._gone = gone

    def __aiter__(self) -> "_Telling":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._gone()
            raise

    async def __aenter__(self) -> "_Telling":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> Any:
        return await self._stream.__aexit__(*failure)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _in_words(server: McpServer, error: BaseException) -> ToolFailed | ToolTimeout:
    """Say what went wrong with a server, in words for the model, without its addresses and keys."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    said = readable(str(error), _REASON)
    if "timed out" in said:
        return ToolTimeout(f"The MCP server {server.name} took longer than {server.timeout:g} s.")
    if isinstance(error, TimeoutError):
        return ToolFailed(f"The MCP server {server.name} did not start within its time.")
    if type(error).__name__ == "MCPError":
        return ToolFailed(f"The MCP server {server.name} says: {said}")
    return ToolFailed(f"The MCP server {server.name} cannot be reached ({type(error).__name__}).")


def _await(work: Coroutine[Any, Any, T], control: Control) -> T:
    """Return what a coroutine returns in the background; a halt cancels it."""
    future: Future[T] = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        while True:
            control.check()
            try:
                return future.result(_GLANCE)
            except WaitedInVain:
                if future.done():
                    raise
    finally:
        future.cancel()


def connection(server: McpServer) -> McpConnection:
    """Return the process's one connection to a server."""
    with _MAKING:
        return _connection(server.model_dump_json())


def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of the one background thread, started with the first connection."""
    with _MAKING:
        return _only_loop()


@cache
def _only_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="mcp", daemon=True).start()
    return loop


@cache
def _connection(server_json: str) -> McpConnection:
    opened = McpConnection(McpServer.model_validate_json(server_json))
    atexit.register(opened.close)
    return opened
