"""One open connection to an MCP server: entered, held and left by a task of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agents.tools.mcp.last_words import LastWords
from agents.tools.mcp.servers import McpServer

if TYPE_CHECKING:
    from mcp import Client, types

_MAX_PAGES = 20

T = TypeVar("T")


class _Page(Protocol):
    next_cursor: str | None


P = TypeVar("P", bound=_Page)


class McpLink:
    """One open connection, entered and left by a task of its own, as the SDK demands."""

    client: "Client"

    def __init__(self, server: McpServer, last_words: LastWords) -> None:
        self._server = server
        self._last_words = last_words
        self._is_stale = False
        self._over = asyncio.Event()
        self._ended = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self.tools: Sequence[types.Tool] = ()
        self.has_resources = False

    @property
    def is_gone(self) -> bool:
        """Tell whether the other side has hung up."""
        return self._ended.is_set() or (self._task is not None and self._task.done())

    async def open(self) -> None:
        """Connect and list the tools; raises whatever goes wrong."""
        # It outlives the run that asked first, so it belongs to none.
        self._task = asyncio.create_task(self._hold(), context=Context())
        await asyncio.wait({self._ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            await self._task
        await self._ready

    async def listed(self) -> Sequence["types.Tool"]:
        """Return the tools, asked for anew where the server said that they changed."""
        if self._is_stale:
            self._is_stale = False
            self.tools = await _every_tool(self.client)
        return self.tools

    async def resources(self) -> list["types.Resource | types.ResourceTemplate"]:
        """Return what can be read, and the patterns of addresses of what else can."""
        client = self.client
        resources = await _every(client.list_resources, lambda page: page.resources)
        patterns = await _every(
            client.list_resource_templates, lambda page: page.resource_templates
        )
        return [*resources, *patterns]

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
            _transport(self._server, self._ended.set, self._last_words) as transport,
            Client(transport, message_handler=self._noticed) as client,
        ):
            self.client = client
            self.tools = await _every_tool(client)
            self.has_resources = await self._has_resources(client)
            if not self._ready.done():
                self._ready.set_result(None)
            listening = asyncio.create_task(self._listen(client))
            try:
                await self._over.wait()
            finally:
                listening.cancel()
                await asyncio.wait({listening})

    async def _has_resources(self, client: "Client") -> bool:
        """Tell whether there is something to read: some servers only say that there may be."""
        from mcp import MCPError

        if client.server_capabilities.resources is None:
            return False
        try:
            return bool(await self.resources())
        except MCPError:
            return False

    async def _noticed(self, message: Any) -> None:
        from mcp import types

        if isinstance(message, types.ToolListChangedNotification):
            self._is_stale = True

    async def _listen(self, client: "Client") -> None:
        """Notice changes also where the protocol tells them only to who listens."""
        with contextlib.suppress(Exception):  # an older server tells without being asked
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._is_stale = True


async def _every_tool(client: "Client") -> list["types.Tool"]:
    return await _every(client.list_tools, lambda page: page.tools)


async def _every(list_page: Callable[..., Awaitable[P]], of: Callable[[P], list[T]]) -> list[T]:
    """Return what stands on all the pages of a list."""
    found: list[T] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await list_page(cursor=cursor)
        found += of(page)
        cursor = page.next_cursor
        if not cursor:
            break
    return found


@contextlib.asynccontextmanager
async def _transport(
    server: McpServer, gone: Callable[[], None], last_words: LastWords
) -> AsyncIterator[Any]:
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
    with last_words.of() as stderr:
        yield _Watched(stdio_client(parameters, errlog=stderr), gone)


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
