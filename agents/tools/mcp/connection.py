"""Connections to MCP servers, held by one thread of the process and opened on first use.

Every wait of a caller heeds its Control; a server that is down, silent or gone is an error for the
one call, and is tried again on the next use.
"""

import asyncio
import atexit
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as WaitedInVain
from functools import cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from agents.control import Control
from agents.cores import roaming
from agents.errors import ToolFailed, ToolTimeout
from agents.tools.json_inputs import readable
from agents.tools.mcp.last_words import LastWords
from agents.tools.mcp.link import McpLink
from agents.tools.mcp.servers import McpServer
from agents.waiting import SLICE, result_of

if TYPE_CHECKING:
    from mcp import types

CONNECT_SECONDS = 20.0
PATIENCE = 30.0
"""Seconds before a server that could not be reached is tried again."""

_MAKING = threading.RLock()
_REASON = 200
_MOST_PROGRESS = 200
"""Lines on how far one call has come."""

T = TypeVar("T")


class McpConnection:
    """One server; safe to use from any thread."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.failure = ""
        self.program = ""
        self.offered: Sequence[tuple[str, str, bool]] = ()
        self.last_words = LastWords()
        self._failed_at = float("-inf")
        self._opening = asyncio.Lock()
        self._link: McpLink | None = None

    @property
    def was_used(self) -> bool:
        """Tell whether it was connected to, or tried to be."""
        return bool(self.failure or self.program)

    def tools(self, control: Control) -> Sequence["types.Tool"]:
        """Return what the server offers; raises ToolFailed if it cannot be reached, and Halted."""
        return _await(self._listed(), control)

    def has_resources(self) -> bool:
        """Tell whether the server had something to read when it was connected to."""
        link = self._link
        return link is not None and link.has_resources

    def call(
        self, tool: str, inputs: dict[str, Any], control: Control
    ) -> Generator[str, None, "types.CallToolResult"]:
        """Yield how far the tool of that name has come, and return what it says.

        Raises ToolError, and Halted.
        """
        told: SimpleQueue[str | None] = SimpleQueue()
        work = self._called(tool, inputs, told.put)
        future = asyncio.run_coroutine_threadsafe(work, _loop())
        future.add_done_callback(lambda _: told.put(None))
        try:
            while True:
                control.check()
                try:
                    line = told.get(timeout=max(0.001, min(SLICE, control.remaining())))
                except Empty:
                    continue
                if line is None:
                    return result_of(future, control)
                yield line
        finally:
            future.cancel()

    def resources(self, control: Control) -> Sequence["types.Resource | types.ResourceTemplate"]:
        """Return what the server has to read; raises ToolError, and Halted."""
        return _await(self._asked(lambda link: link.resources()), control)

    def read(
        self, uri: str, control: Control
    ) -> Sequence["types.TextResourceContents | types.BlobResourceContents"]:
        """Return what stands at an address of the server's; raises ToolError, and Halted."""
        result = _await(self._asked(lambda link: link.client.read_resource(uri)), control)
        return result.contents

    def close(self) -> None:
        """End the connection, and the server if it was started for it."""
        link, self._link = self._link, None
        if link is not None:
            with contextlib.suppress(CancelledError, WaitedInVain):
                asyncio.run_coroutine_threadsafe(link.close(), _loop()).result(10)

    async def _listed(self) -> Sequence["types.Tool"]:
        return await self._asked(lambda link: link.listed())

    async def _called(
        self, tool: str, inputs: dict[str, Any], tell: Callable[[str], None]
    ) -> "types.CallToolResult":
        left = _MOST_PROGRESS

        async def tell_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal left
            left -= 1
            if left >= 0:
                tell(_progress(progress, total, message))

        return await self._asked(
            lambda link: link.client.call_tool(
                tool,
                inputs,
                read_timeout_seconds=self.server.timeout,
                progress_callback=tell_progress,
            )
        )

    async def _asked(self, ask: Callable[[McpLink], Awaitable[T]]) -> T:
        """Return what the server answers; what went wrong is raised as a ToolError."""
        from mcp import MCPError

        link = await self._linked()
        try:
            async with asyncio.timeout(self.server.timeout + 1):
                return await ask(link)
        except TimeoutError:
            await self._drop(link)
            raise ToolTimeout(_too_slow(self.server)) from None
        except MCPError as error:
            if link.is_gone or self.server.url:
                await self._drop(link)
            raise _in_words(self.server, error) from None
        except Exception as error:
            await self._drop(link)
            raise _in_words(self.server, error) from None

    async def _linked(self) -> McpLink:
        """Return the open link, opening it if there is none that lives."""
        async with self._opening:
            if self._link is not None and self._link.is_gone:
                await self._drop(self._link)
            if self._link is None:
                self._link = await self._opened()
            return self._link

    async def _opened(self) -> McpLink:
        if time.monotonic() - self._failed_at < PATIENCE:
            raise ToolFailed(self.failure)
        link = McpLink(self.server, self.last_words)
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
        self.program = _program(link)
        return link

    async def _drop(self, link: McpLink) -> None:
        if self._link is link:
            self._link = None
        await link.close()


def _progress(done: float, total: float | None, message: str | None) -> str:
    """Say on a line how far a call has come."""
    of = f" of {total:g}" if total is not None else ""
    said = f" {readable(message, _REASON)}" if message else ""
    return f"[{done:g}{of}]{said}\n"


def _program(link: McpLink) -> str:
    """Return what the server says that it is, in a few words."""
    told = link.client.server_info
    return readable(f"{told.name} {told.version}", 100) if told else "(it does not say)"


def _in_words(server: McpServer, error: BaseException) -> ToolFailed | ToolTimeout:
    """Say what went wrong with a server, in words for the model, without its addresses and keys."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    said = readable(str(error), _REASON)
    if "timed out" in said:
        return ToolTimeout(_too_slow(server))
    if isinstance(error, TimeoutError):
        return ToolFailed(f"The MCP server {server.name} did not start within its time.")
    if type(error).__name__ == "MCPError":
        return ToolFailed(f"The MCP server {server.name} says: {said}")
    return ToolFailed(f"The MCP server {server.name} cannot be reached ({type(error).__name__}).")


def _too_slow(server: McpServer) -> str:
    return f"The MCP server {server.name} took longer than {server.timeout:g} s."


def _await(work: Coroutine[Any, Any, T], control: Control) -> T:
    """Return what a coroutine returns in the background; a halt cancels it."""
    future: Future[T] = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return result_of(future, control)
    finally:
        future.cancel()


def connection(server: McpServer) -> McpConnection:
    """Return the process's one connection to a server."""
    with _MAKING:
        # What was left out stays so: it tells a default from what the administrator chose.
        return _connection(server.model_dump_json(exclude_unset=True))


def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of the one background thread, started with the first connection."""
    with _MAKING:
        return _only_loop()


@cache
def _only_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=_run_for_ever, args=(loop,), name="mcp", daemon=True).start()
    return loop


def _run_for_ever(loop: asyncio.AbstractEventLoop) -> None:
    with roaming():
        loop.run_forever()


@cache
def _connection(server_json: str) -> McpConnection:
    opened = McpConnection(McpServer.model_validate_json(server_json))
    atexit.register(opened.close)
    return opened
