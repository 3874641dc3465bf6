"""A TCP proxy that cuts its connections at random places, be it in the middle of a frame."""

import asyncio
import random
import threading
from contextlib import suppress
from typing import Self

KINDS = ((0.15, 20), (0.7, 500), (0.15, 4_000))
"""How often a connection is cut after how many bytes on average: before the server has answered,
soon after, and when much has passed."""


class CuttingProxy:
    """Pass bytes on to a port of this machine until `cuts` connections were cut; then, let be.

    The same seed cuts at the same bytes; where in a run these fall is up to the machine.
    """

    def __init__(self, target: int, *, seed: int, cuts: int) -> None:
        self.made = 0
        self.enough = threading.Event()
        self.port = 0
        self._target = target
        self._cuts = cuts
        self._chance = random.Random(seed)  # noqa: S311
        self._loop = asyncio.new_event_loop()
        self._listens = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._listens.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._server = self._loop.run_until_complete(listening)
        self.port = self._server.sockets[0].getsockname()[1]
        self._listens.set()
        self._loop.run_forever()

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, near: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with suppress(asyncio.CancelledError, OSError):
            await self._join(near, client)

    async def _join(self, near: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        far, server = await asyncio.open_connection("127.0.0.1", self._target)
        pumps = [
            asyncio.create_task(self._pump(near, server, None)),
            asyncio.create_task(self._pump(far, client, self._budget())),
        ]
        done, _ = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        is_cut = any(pump.result() for pump in done)
        for pump in pumps:
            pump.cancel()
        for writer in (client, server):
            if is_cut:
                writer.transport.abort()
            else:
                writer.close()

    def _budget(self) -> int:
        shares, means = zip(*KINDS, strict=True)
        (mean,) = self._chance.choices(means, shares)
        return int(self._chance.expovariate(1 / mean))

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, budget: int | None
    ) -> bool:
        """Pass bytes on until the source ends, or tell that the connection is to be cut."""
        with suppress(OSError):
            while data := await source.read(4096):
                is_cut = budget is not None and len(data) > budget and self._may_cut()
                sink.write(data[:budget] if is_cut else data)
                await sink.drain()
                if is_cut:
                    return True
                budget = None if budget is None else max(0, budget - len(data))
        return False

    def _may_cut(self) -> bool:
        if self.made == self._cuts:
            return False
        self.made += 1
        if self.made == self._cuts:
            self.enough.set()
        return True
