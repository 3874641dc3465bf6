"""What a web process puts into the streams itself: new runs, and the end of runs nobody held.

Redis may be away: the rows are the truth, and who watches is told of them from Postgres later.
"""

import logging

from redis.exceptions import RedisError

from chat.live import frames
from chat.live.render import render_run
from chat.live.streams import KEPT_SECONDS, client, conversation_key, run_key
from chat.models import Run

logger = logging.getLogger(__name__)

MOST_RUNS = 100
"""How many new runs a conversation's stream remembers; a page asks Postgres for older ones."""


def announce(run: Run) -> None:
    """Tell everybody who watches the conversation of a new run, before any worker has it."""
    frame = frames.run_created(run.pk, run.client_message_id, render_run(run))
    key = conversation_key(run.conversation_id)
    pipeline = client().pipeline(transaction=False)
    pipeline.delete(run_key(run.pk))  # left by a run of the same number in a database now gone
    pipeline.xadd(key, {"d": frame, "run": run.pk}, maxlen=MOST_RUNS, approximate=True)
    pipeline.expire(key, KEPT_SECONDS)
    try:
        pipeline.execute()
    except RedisError as error:
        logger.warning("Run %s could not be announced: %s", run.pk, error)


def announce_end(run: Run) -> None:
    """Tell everybody who watches a run that it has ended, under the id that its row names."""
    key = run_key(run.pk)
    event = frames.run_ended(run.status, run.reason, render_run(run))
    pipeline = client().pipeline(transaction=False)
    pipeline.xadd(key, {"d": frames.encode([event]), "end": 1}, id=run.stream_id)
    pipeline.expire(key, KEPT_SECONDS)
    try:
        pipeline.execute()
    except RedisError as error:
        logger.warning("The end of run %s could not be announced: %s", run.pk, error)
