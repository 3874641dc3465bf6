"""What is put into the streams of runs that nobody holds: new, answered, interrupted or ended.

Redis may be away: the rows are the truth, and who watches is told of them from Postgres later.
"""

import logging
from typing import Any

from redis.exceptions import RedisError, ResponseError

from chat.live import frames
from chat.live.render import render_run, render_turn
from chat.live.streams import (
    ABANDONED_SECONDS,
    KEPT_SECONDS,
    StreamId,
    conversation_key,
    quick_client,
    run_key,
)
from chat.models import Approval, Run, RunStatus

logger = logging.getLogger(__name__)

MOST_RUNS = 100
"""How many new runs a conversation's stream remembers; a page asks Postgres for older ones."""

INTERRUPTED = "Its worker let go of it. Another one goes on from the last complete step."
DECIDED = "It goes on with the answer as soon as a worker is free."


def clear(run: Run) -> None:
    """Remove what a run of the same number, in a database now gone, has left in Redis.

    Call it before the run is committed: after that a worker may be writing its first frames.
    """
    try:
        quick_client().delete(run_key(run.pk))
    except RedisError as error:
        logger.warning("What Redis may still hold for run %s is left: %s", run.pk, error)


def announce(run: Run) -> None:
    """Tell everybody who watches the conversation of a new run."""
    frame = frames.run_created(run.pk, run.client_message_id, render_run(run))
    try:
        key = conversation_key(run.conversation_id)
        _add(key, {"d": frame, "run": run.pk}, KEPT_SECONDS, most=MOST_RUNS)
    except RedisError as error:
        logger.warning("Run %s could not be announced: %s", run.pk, error)


def announce_end(run: Run) -> None:
    """Tell everybody who watches a run that it has ended, under the id that its row names."""
    event = frames.run_ended(run.status, run.reason, render_run(run))
    fields = {"d": frames.encode([event]), "end": 1}
    try:
        _add(run_key(run.pk), fields, KEPT_SECONDS, place=run.stream_id)
    except RedisError as error:
        logger.warning("The end of run %s could not be announced: %s", run.pk, error)


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
    if turn is None or turn.approval is None or turn.acted_at or turn.ended_at:
        events = [frames.run_interrupted(INTERRUPTED, html)]
    else:
        decided = frames.approval("decided", turn.index, render_turn(turn, now))
        events = [decided, frames.run_interrupted(DECIDED, html)]
    place = str(StreamId(now.attempt + 1, 0))
    try:
        _add(run_key(now.pk), {"d": frames.encode(events)}, ABANDONED_SECONDS, place=place)
    except ResponseError:
        logger.info("Run %s went on before it was told to be interrupted", now.pk)
    except RedisError as error:
        logger.warning("That run %s is interrupted could not be told: %s", now.pk, error)


def _add(
    key: str,
    fields: dict[Any, Any],
    kept_seconds: int,
    place: str = "*",
    most: int | None = None,
) -> None:
    """Add an entry to a stream, of which about so many are kept for so long; raises RedisError."""
    pipeline = quick_client().pipeline(transaction=False)
    pipeline.xadd(key, fields, id=place, maxlen=most, approximate=True)
    pipeline.expire(key, kept_seconds)
    pipeline.execute()
