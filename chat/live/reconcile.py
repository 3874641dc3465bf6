"""A web process looks after the runs that it shows, by one query for all its pages.

Every two seconds it tells those that wait for a worker how many are ahead. Every six it compares
what its pages were sent with the record: a run may have begun, ended or gone on without a frame of
it reaching them, when Redis forgot a stream or was away, or when who should have told of it died.
"""

import asyncio
import logging
from weakref import WeakKeyDictionary

from django.db import DatabaseError, InterfaceError

from chat.live.access import in_database, standing, young
from chat.live.followers import NewsFollower, RunFollower
from chat.live.reader import reader
from chat.runs.queue import ahead_of
from chat.stream.streams import StreamId

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
LOOKS_TO_COMPARE = 3

_sweeps: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]]" = WeakKeyDictionary()


def sweep() -> None:
    """Make sure that the runs which this process shows are looked after."""
    loop = asyncio.get_running_loop()
    task = _sweeps.get(loop)
    if task is None or task.done():
        _sweeps[loop] = loop.create_task(_look_while_needed())


async def _look_while_needed() -> None:
    looks = 0
    behind: dict[RunFollower, StreamId] = {}
    while any(reader().followers()):
        await asyncio.sleep(LOOK_SECONDS)
        looks += 1
        try:
            await _tell_places()
            if looks % LOOKS_TO_COMPARE == 0:
                behind = await _compare(behind)
                await _tell_of_new_runs()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("How the runs on live pages stand is not known: %s", error)
        except Exception:
            # It serves every page of the process: whatever happens, it goes on.
            logger.exception("The reconciliation of live pages failed")


async def _tell_places() -> None:
    waiting = [follower for follower in _followed() if follower.waits]
    if waiting:
        ahead = await in_database(ahead_of, {follower.run_id for follower in waiting})
        for follower in waiting:
            await follower.tell_place(ahead.get(follower.run_id))


async def _compare(behind: dict[RunFollower, StreamId]) -> dict[RunFollower, StreamId]:
    """Show the record to who lacks some of it and was as far the last time; return who lacks."""
    followed = _followed()
    stored = await in_database(standing, {follower.run_id for follower in followed})
    now: dict[RunFollower, StreamId] = {}
    for follower in set(followed).intersection(_followed()):  # neither left nor came meanwhile
        run = stored.get(follower.run_id)
        if run is None or run.has_ended:
            follower.start_over()
            continue
        follower.waits = follower.waits or run.waits
        await follower.tell_stalled(run.is_stalled)
        if follower.cursor < run.shown_by:
            now[follower] = follower.cursor
            if behind.get(follower) == follower.cursor:
                missed = (follower.run_id, follower.cursor, run.shown_by)
                logger.info("Run %s: nothing came after %s, and the record is at %s", *missed)
                follower.start_over()
    return now


async def _tell_of_new_runs() -> None:
    pages = [one for one in reader().followers() if isinstance(one, NewsFollower)]
    if pages:
        runs = await in_database(young, {page.conversation_id for page in pages})
        for page in pages:
            if not all(map(page.knows, runs.get(page.conversation_id, ()))):
                page.recover()


def _followed() -> list[RunFollower]:
    return [one for one in reader().followers() if isinstance(one, RunFollower)]
