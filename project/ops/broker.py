"""A broker that may die without taking its workers along.

A message only wakes a worker, so what becomes of it when its connection is gone does not matter.
But kombu goes on to acknowledge it, or to give it back, over a channel that is closed, and raises
what Celery takes for the end of the worker with all its runs.
"""

import logging
from typing import Any

from kombu.transport.redis import Channel, QoS

logger = logging.getLogger(__name__)


class ForgivingQoS(QoS):
    """Keep what is not acknowledged yet; Redis keeps it, too, until the visibility timeout."""

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message, if its channel is still open."""
        if not self.channel.closed:
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Refuse a message, if its channel is still open."""
        if not self.channel.closed:
            super().reject(delivery_tag, requeue)

    def restore_unacked(self, client: Any = None) -> None:
        """Give back what is not acknowledged, as far as the broker is there to take it."""
        try:
            super().restore_unacked(client)
        except Exception as error:
            logger.warning("Messages are given back by the broker, in time: %s", error)
            (self._delivered or {}).clear()


def forgive() -> None:
    """Have every channel to Redis outlive its connection."""
    Channel.QoS = ForgivingQoS
