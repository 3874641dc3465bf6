"""Tell the workers that a run waits; the message may get lost or doubled, the row is the truth."""

import logging
from functools import partial

from celery import current_app
from kombu.exceptions import OperationalError
from kombu.pools import ProducerPool, producers
from redis.exceptions import RedisError

from chat.singleton import once
from chat.stream.deferred import deferred

logger = logging.getLogger(__name__)

TASK = "chat.runs.work"


def wake(run_id: int) -> None:
    """Send the wake-up soon; without a broker a worker's reaper finds the run in the queue."""
    deferred().add(partial(_send, run_id))


def _send(run_id: int) -> None:
    try:
        with _producers().acquire(block=True) as producer:
            current_app.send_task(
                TASK, (run_id,), producer=producer, retry=False, ignore_result=True
            )
    except (OperationalError, RedisError, OSError) as error:
        logger.warning("Run %s stays queued, the broker is away: %s", run_id, error)


@once
def _producers() -> ProducerPool:
    """Return who sends; without a connection it fails at once, where kombu pauses for 6 seconds."""
    once_only = {"max_retries": 0}
    made: ProducerPool = producers[current_app.connection_for_write(transport_options=once_only)]
    return made
