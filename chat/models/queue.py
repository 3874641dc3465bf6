"""The queue of those whose runs wait for a worker: one row for each person who ever asked."""

from typing import Self

from django.db import models

from chat.models.user import User


class QueueQuerySet(models.QuerySet["Queue"]):
    """People by whether their runs wait, and who of them comes next."""

    def admissible(self, limit: int) -> Self:
        """Keep those who have a waiting run and fewer than `limit` running; 0 is no limit."""
        waiting = self.filter(next_run__isnull=False)
        return waiting.filter(running__lt=limit) if limit else waiting

    def in_order(self) -> Self:
        """Put first who has the fewest running, then who has waited longest since being served."""
        return self.order_by("running", "since", "owner_id")


class Queue(models.Model):
    """How many of a person's runs are held by workers, and which of those that wait is the next.

    Postgres itself keeps the row true: a trigger writes it in the transaction that changes a run's
    status, whoever does so. `next_run` is the number of the run, an interrupted one before those
    that never began. `since` is when the person last got a worker or, if later, began to wait; a
    run that was interrupted is dated from its own start, so that it does not lose its place.
    """

    owner = models.OneToOneField(
        User, on_delete=models.CASCADE, primary_key=True, related_name="queue"
    )
    running = models.PositiveIntegerField(default=0)
    next_run = models.BigIntegerField(null=True, blank=True)
    since = models.DateTimeField(null=True, blank=True)

    objects = QueueQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="queue_since_if_waiting",
                condition=models.Q(next_run=None) | models.Q(since__isnull=False),
            ),
        ]
        indexes = [
            models.Index(
                fields=["running", "since", "owner"],
                name="queue_in_order",
                condition=models.Q(next_run__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"The queue of {self.owner}"
