"""The queues of the runs that wait for a worker: a row for each space and lane that had any."""

from typing import Self

from django.db import models

from chat.models.space import Space


class Lane(models.TextChoices):
    """What a run waits as; a run of the lane batch begins only where none of the lane chat waits.

    Postgres orders them by their names: `-lane` has chats first.
    """

    CHAT = "chat", "chat"
    BATCH = "batch", "batch"


class QueueQuerySet(models.QuerySet["Queue"]):
    """Queues by whether their runs wait, and which of them comes next."""

    def admissible(self, limit: int) -> Self:
        """Keep those that have a waiting run and fewer than `limit` running; 0 is no limit."""
        waiting = self.filter(next_run__isnull=False)
        return waiting.filter(running__lt=limit) if limit else waiting

    def in_order(self) -> Self:
        """Put chats first, then what has the fewest running, then what was served longest ago."""
        return self.order_by("-lane", "running", "since", "space_id")


class Queue(models.Model):
    """How many runs of a space and lane are held by workers, and which that waits is the next.

    Postgres itself keeps the row true: a trigger writes it in the transaction that changes a run's
    status, whoever does so. `next_run` is the number of the run, an interrupted one before those
    that never began. `since` is when the space last got a worker or, if later, began to wait; a
    run that was interrupted is dated from its own start, so that it does not lose its place.
    """

    pk = models.CompositePrimaryKey("space_id", "lane")
    space = models.ForeignKey(
        Space, on_delete=models.CASCADE, related_name="queues", db_index=False
    )
    lane = models.CharField(max_length=5, choices=Lane)
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
            models.CheckConstraint(
                name="queue_lane_is_known", condition=models.Q(lane__in=Lane.values)
            ),
        ]
        indexes = [
            models.Index(
                fields=["-lane", "running", "since", "space"],
                name="queue_in_order",
                condition=models.Q(next_run__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"The {self.lane} queue of {self.space}"
