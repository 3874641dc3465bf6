"""A run: one question, the policy that works on it, and how it went."""

from typing import Self

from django.db import models, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from chat.models.conversation import Conversation
from chat.models.policy import PolicyVersion
from chat.models.user import User


class RunStatus(models.TextChoices):
    """Where a run is; the words are those of the page."""

    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    WAITING = "waiting", "waiting for you"
    INTERRUPTED = "interrupted", "interrupted, will resume"
    SUCCEEDED = "succeeded", "answered"
    EXHAUSTED = "exhausted", "ran out"
    STOPPED = "stopped", "stopped"
    FAILED = "failed", "failed"


CLAIMABLE = (RunStatus.QUEUED, RunStatus.INTERRUPTED)
LIVE = (*CLAIMABLE, RunStatus.RUNNING, RunStatus.WAITING)
ENDED = (RunStatus.SUCCEEDED, RunStatus.EXHAUSTED, RunStatus.STOPPED, RunStatus.FAILED)


class RunQuerySet(models.QuerySet["Run"]):
    """Runs by who may see them and where they are."""

    def readable_by(self, user: User) -> Self:
        """Keep what the user may read: their own, or all for a reviewer."""
        return self if user.is_reviewer else self.filter(conversation__owner=user)

    def live(self) -> Self:
        """Keep the runs that have not ended."""
        return self.filter(status__in=LIVE)


class Run(models.Model):
    """The truth about one run; a Celery message only wakes a worker to look at it.

    A worker holds the run from `claim` until `lease_until`; `attempt` counts the claims and fences
    every write. `parent` is the run this one follows in the thread; `again_of` the run whose
    question was asked again under another policy. `stream_id` is the cursor of the last frame that
    the stored rows cover. `woken_at` is when a worker was last told of a waiting run.
    """

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="runs")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="followers"
    )
    again_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="asked_again"
    )
    policy_version = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="runs")
    client_message_id = models.UUIDField()
    question = models.TextField()

    status = models.CharField(max_length=12, choices=RunStatus, default=RunStatus.QUEUED)
    reason = models.CharField(max_length=24, blank=True)
    message = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    answer_html = models.TextField(blank=True)
    partial = models.BooleanField(default=False)

    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=200, blank=True)
    input_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    output_tokens = models.PositiveBigIntegerField(null=True, blank=True)

    attempt = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    woken_at = models.DateTimeField(default=timezone.now)
    stream_id = models.CharField(max_length=40, default="0-0")

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "client_message_id"], name="one_run_per_message"
            ),
            models.CheckConstraint(
                name="run_status_is_known", condition=Q(status__in=RunStatus.values)
            ),
            models.CheckConstraint(
                name="run_ended_at_iff_ended",
                condition=Q(status__in=ENDED, ended_at__isnull=False)
                | (~Q(status__in=ENDED) & Q(ended_at__isnull=True)),
            ),
            models.CheckConstraint(
                name="run_lease_iff_held",
                condition=Q(status__in=("running", "waiting"), lease_until__isnull=False)
                | (~Q(status__in=("running", "waiting")) & Q(lease_until__isnull=True)),
            ),
        ]
        indexes = [
            models.Index(
                fields=["status", "lease_until"], name="run_live", condition=Q(ended_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the page of the run's transcript."""
        return reverse("transcript", args=[self.pk])

    @property
    def is_live(self) -> bool:
        """Tell whether the run has not ended."""
        return self.status in LIVE

    @property
    def seconds(self) -> float | None:
        """Return how long the run has worked, or worked in all; None before it began."""
        if self.started_at is None:
            return None
        return ((self.ended_at or timezone.now()) - self.started_at).total_seconds()

    def request_stop(self) -> bool:
        """Ask for the run to end, wherever it is, and tell whether it was live.

        The wish is durable. A run that no worker holds ends here and now, under an attempt of its
        own, so that a worker which wakes up late is fenced off. See `chat.runs.stop`, which tells
        the people who watch as well.
        """
        now = timezone.now()
        with transaction.atomic():
            run = Run.objects.select_for_update().get(pk=self.pk)
            if run.status in CLAIMABLE:
                run.turns.filter(ended_at=None).update(status="interrupted", ended_at=now)
                run.status, run.reason, run.message = (
                    RunStatus.STOPPED,
                    "stopped",
                    "Stopped by you.",
                )
                run.attempt += 1
                run.stream_id = f"{run.attempt}-1"
                run.ended_at = now
            elif not run.is_live:
                return False
            run.stop_requested_at = run.stop_requested_at or now
            run.save()
        self.refresh_from_db()
        return True
