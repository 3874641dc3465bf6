"""Every few seconds, one query a process: have runs ended without their sockets hearing of it?

That happens when Redis forgot a stream, or was away for longer than a worker waited.
"""

import asyncio
import logging
from weakref import WeakKeyDictionary

from django.db import DatabaseError, InterfaceError

from chat.live.followers import RunFollower
from chat.live.reader import reader
from chat.live.records import ended_among, in_database

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 10.0

_sweeps: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]]" = WeakKeyDictionary()


def sweep() -> None:
    """Make sure that the runs which this process follows are looked after."""
    loop = asyncio.get_running_loop()
    task = _sweeps.get(loop)
    if task is None or task.done():
        _sweeps[loop] = loop.create_task(_sweep_while_needed())


async def _sweep_while_needed() -> None:
    while runs := _followed():
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            ended = await in_database(ended_among, {follower.run_id for follower in runs})
        except (DatabaseError, InterfaceError) as error:
            logger.warning("Whether runs have ended is not known: %s", error)
            continue
        for follower in _followed():
            if follower.run_id in ended:
                follower.start_over()


def _followed() -> list[RunFollower]:
    return [one for one in reader().followers() if isinstance(one, RunFollower)]
