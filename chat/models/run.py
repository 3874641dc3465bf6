"""A run: one question, the policy that works on it, and how it went."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from chat.clock import Clock
from chat.models.conversation import Conversation
from chat.models.policy import PolicyVersion
from chat.models.queue import Lane
from chat.models.user import User


class RunStatus(models.TextChoices):
    """Where a run is; the words are those of the page."""

    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    WAITING = "waiting", "waiting for an answer"
    INTERRUPTED = "interrupted", "interrupted, will resume"
    SUCCEEDED = "succeeded", "answered"
    EXHAUSTED = "exhausted", "ran out"
    STOPPED = "stopped", "stopped"
    FAILED = "failed", "failed"


CLAIMABLE = (RunStatus.QUEUED, RunStatus.INTERRUPTED)
UNHELD = (*CLAIMABLE, RunStatus.WAITING)
"""What no worker holds: such a run can be ended by whoever locks its row."""

LIVE = (*UNHELD, RunStatus.RUNNING)
ENDED = (RunStatus.SUCCEEDED, RunStatus.EXHAUSTED, RunStatus.STOPPED, RunStatus.FAILED)


class RunQuerySet(models.QuerySet["Run"]):
    """Runs by where they are; who may see them is asked of `chat.governance.door`."""

    def live(self) -> Self:
        """Keep the runs that have not ended, which have indexes of their own."""
        return self.filter(status__in=LIVE, ended_at=None)


class Run(models.Model):
    """The truth about one run; a Celery message only wakes a worker to look at it.

    A worker holds the run from `claimed_at` until `lease_until`; `attempt` counts the claims and
    fences every write. A run that waits for a person is held by nobody. `seconds_used` is what
    earlier attempts have worked. `parent` is the run this one follows in the thread; `again_of` the
    run whose question was asked again under another policy. The instructions of its owner and of
    its conversation are kept as they were when it was asked. `stream_id` is the cursor of the last
    frame that the stored rows cover. `owner` and `space_id` are the conversation's, and `lane` goes
    by its kind; Postgres fills them in, so that the queue (see `chat.models.queue`) is found
    without looking elsewhere.
    `told_at` is the date that the source of a run gives which was not worked on here; `ended_at`
    is then when it became final here.
    `chosen_provider` and `chosen_model` are what the person chose, empty where they left it to the
    policy; `provider` and `model` are who answers, and `instead_of` is the provider in whose place
    that is, where it did not.
    `build` is the code of Turnstone that worked on it last, as settings.BUILD names it.
    `answer_form` says which form of rendering made `answer_html` (see `chat.stream.answers`).
    `ahead` is how many stand before a queued run, once `chat.runs.queue.tell_ahead` has counted.
    """

    ahead: int | None = None

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="runs")
    owner = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="runs", editable=False, db_index=False
    )
    space_id = models.BigIntegerField(editable=False)
    lane = models.CharField(max_length=5, choices=Lane, db_default=Lane.CHAT, editable=False)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="followers"
    )
    again_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="asked_again"
    )
    policy_version = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="runs")
    client_message_id = models.UUIDField()
    question = models.TextField()
    person_instructions = models.TextField(blank=True, default="", db_default="", editable=False)
    conversation_instructions = models.TextField(
        blank=True, default="", db_default="", editable=False
    )

    status = models.CharField(max_length=12, choices=RunStatus, default=RunStatus.QUEUED)
    reason = models.CharField(max_length=24, blank=True)
    message = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    answer_html = models.TextField(blank=True)
    answer_form = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    partial = models.BooleanField(default=False)

    chosen_provider = models.CharField(max_length=40, blank=True, default="", db_default="")
    chosen_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    instead_of = models.CharField(max_length=40, blank=True, default="", db_default="")
    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=200, blank=True)
    build = models.CharField(max_length=80, blank=True, db_default="")
    input_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    output_tokens = models.PositiveBigIntegerField(null=True, blank=True)

    attempt = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    seconds_used = models.FloatField(default=0.0, db_default=0.0)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    stream_id = models.CharField(max_length=40, default="0-0")

    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    told_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = RunQuerySet.as_manager()

    clock: Clock
    """The database's, for who has claimed the run."""

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "client_message_id"], name="one_run_per_message"
            ),
            models.CheckConstraint(
                name="run_status_is_known", condition=Q(status__in=RunStatus.values)
            ),
            models.CheckConstraint(name="run_lane_is_known", condition=Q(lane__in=Lane.values)),
            models.CheckConstraint(
                name="run_ended_at_iff_ended",
                condition=Q(status__in=ENDED, ended_at__isnull=False)
                | (~Q(status__in=ENDED) & Q(ended_at__isnull=True)),
            ),
            models.CheckConstraint(
                name="run_lease_iff_held",
                condition=Q(status="running", lease_until__isnull=False)
                | (~Q(status="running") & Q(lease_until__isnull=True)),
            ),
        ]
        indexes = [
            models.Index(
                fields=["status", "lease_until"], name="run_live", condition=Q(ended_at=None)
            ),
            models.Index(fields=["created_at"], name="run_created"),
            models.Index(fields=["owner", "created_at"], name="run_of_owner"),
            models.Index(
                fields=["space_id", "lane", "status", "id"],
                name="run_in_queue",
                condition=Q(ended_at=None),
            ),
            models.Index(fields=["owner"], name="run_live_of_owner", condition=Q(ended_at=None)),
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the page of the run's transcript."""
        return reverse("transcript", args=[self.pk])

    @property
    def when(self) -> datetime:
        """Return when the run was: the source's own date, else when it was asked here."""
        return self.told_at or self.created_at

    @property
    def is_live(self) -> bool:
        """Tell whether the run has not ended."""
        return self.status in LIVE

    @property
    def is_stalled(self) -> bool:
        """Tell whether its worker seems to be dead: it has missed several renewals of the lease.

        Until the lease is over nobody else may go on with the run.
        """
        if self.status != RunStatus.RUNNING or self.lease_until is None:
            return False
        left = (self.lease_until - timezone.now()).total_seconds()
        return bool(left < settings.LEASE_SECONDS / 2)

    @property
    def seconds(self) -> float | None:
        """Return how long the run has worked, or worked in all; None before it began.

        What it waited for a person or for another worker does not count.
        """
        if self.started_at is None:
            return None
        until = self.ended_at or timezone.now()
        if self.claimed_at is not None:
            return self.seconds_used + max(0.0, (until - self.claimed_at).total_seconds())
        return self.seconds_used or max(0.0, (until - self.started_at).total_seconds())
