"""What is put into the streams of runs that nobody holds: new, answered, interrupted or ended.

Redis may be away: the rows are the truth, and who watches is told of them from Postgres later. So
nobody waits until it is told; only the frame is made by who calls.
"""

import logging
import time
from functools import partial
from typing import Any

from redis.exceptions import RedisError, ResponseError

from chat.models import Approval, Run, RunStatus
from chat.stream import frames
from chat.stream.deferred import deferred
from chat.stream.render import render_run, render_turn
from chat.stream.server_events import Event
from chat.stream.streams import (
    ABANDONED_SECONDS,
    KEPT_SECONDS,
    StreamId,
    conversation_key,
    hasty_client,
    quick_client,
    run_key,
)

logger = logging.getLogger(__name__)

MAX_RUNS = 100
"""How many new runs a conversation's stream remembers; a page asks Postgres for older ones."""

AGAIN_SECONDS = 2.0
"""How long nobody waits for a Redis that has kept somebody waiting in vain."""

INTERRUPTED = "Its worker let go of it. Another one goes on from the last complete step."
_in_vain_until = 0.0

LAST = StreamId(2**62, 1)
"""Above every frame of any attempt."""

DECIDED = "It goes on with the answer as soon as a worker is free."


def clear(run: Run) -> None:
    """Remove what a run of the same number, in a database now gone, has left in Redis.

    Call it before the run is committed: after that a worker may be writing its first frames. It is
    waited for, so a Redis that hangs is asked once in a while only.
    """
    global _in_vain_until
    if time.monotonic() < _in_vain_until:
        return
    try:
        hasty_client().delete(run_key(run.pk))
    except RedisError as error:
        _in_vain_until = time.monotonic() + AGAIN_SECONDS
        logger.warning("What Redis may still hold for run %s is left: %s", run.pk, error)


def announce(run: Run) -> None:
    """Tell everybody who watches the conversation of a new run."""
    frame = frames.run_created(run.pk, run.client_message_id, render_run(run, turns=[]))
    key = conversation_key(run.conversation_id)
    _tell(f"that run {run.pk} is new", key, {"d": frame, "run": run.pk}, most=MAX_RUNS)


def announce_end(run: Run) -> None:
    """Tell everybody who watches a run that it has ended, under the id that its row names."""
    event = frames.run_ended(run.status, run.reason, render_run(run))
    fields = {"d": frames.encode([event]), "end": 1}
    _tell(f"that run {run.pk} has ended", run_key(run.pk), fields, place=run.stream_id)


def announce_interrupted(run: Run) -> None:
    """Tell everybody who watches a run that its attempt is over and that it will resume.

    Call it when that is committed. If it was a person that it waited for, the answer is told, too.
    The frame is number 0 of the attempt to come: above all that the old worker may still write,
    which Redis refuses from now on, and below all of the next worker.
    """
    now = Run.objects.select_related("policy_version__policy").filter(pk=run.pk).first()
    if now is None or now.status != RunStatus.INTERRUPTED:
        return  # it goes on already, and says so itself
    html = render_run(now)
    turn = next(iter(Approval.objects.attach(now.turns.order_by("-index")[:1])), None)
    action = None if turn is None or turn.ended_at else turn.open_action
    if turn is None or action is None or action.approval is None or action.started_at:
        events: list[Event] = [frames.run_interrupted(INTERRUPTED, html)]
    else:
        decided = frames.approval("decided", turn.index, render_turn(turn, now))
        events = [decided, frames.run_interrupted(DECIDED, html)]
    fields = {"d": frames.encode(events)}
    place = str(StreamId(now.attempt + 1, 0))
    what = f"that run {now.pk} is interrupted"
    _tell(what, run_key(now.pk), fields, place=place, kept_seconds=ABANDONED_SECONDS)


def forget(conversation_id: int, runs: list[int], live: list[int]) -> None:
    """Take a deleted conversation out of Redis; those of its runs that are `live` tell no more."""
    deferred().add(partial(_forget, conversation_id, runs, live))


def _forget(conversation_id: int, runs: list[int], live: list[int]) -> None:
    pipeline = quick_client().pipeline(transaction=False)
    pipeline.delete(conversation_key(conversation_id), *map(run_key, runs))
    for key in map(run_key, live):
        # Redis refuses what a worker still adds below this, and the worker lets go.
        pipeline.xadd(key, {"d": "[]"}, id=str(LAST))
        pipeline.expire(key, KEPT_SECONDS)
    try:
        pipeline.execute()
    except RedisError as error:
        logger.warning("Redis keeps the streams of what was deleted for a while: %s", error)


def _tell(what: str, key: str, fields: dict[Any, Any], **how: Any) -> None:
    deferred().add(partial(_add, what, key, fields, **how))


def _add(
    what: str,
    key: str,
    fields: dict[Any, Any],
    place: str = "*",
    most: int | None = None,
    kept_seconds: int = KEPT_SECONDS,
) -> None:
    """Add an entry to a stream, of which about so many are kept for so long."""
    pipeline = quick_client().pipeline(transaction=False)
    pipeline.xadd(key, fields, id=place, maxlen=most, approximate=True)
    pipeline.expire(key, kept_seconds)
    try:
        pipeline.execute()
    except ResponseError as error:
        logger.info(
            "The announcement %s was refused: %s", what, error
        )  # it went on, and says so itself
    except RedisError as error:
        logger.warning("The announcement %s failed: %s", what, error)
