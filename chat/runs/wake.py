"""Tell the workers that a run waits; the message may get lost or doubled, the row is the truth."""

import logging

from celery import current_app
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

TASK = "chat.runs.work"


def wake(run_id: int) -> None:
    """Send the wake-up; without a broker the run stays queued until a worker's watch finds it."""
    try:
        current_app.send_task(TASK, (run_id,), retry=False, ignore_result=True)
    except (OperationalError, RedisError, OSError) as error:
        logger.warning("Run %s waits in the table, the broker is away: %s", run_id, error)
