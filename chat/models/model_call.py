"""A model call: the exact request and reply, without storing twice what two requests share."""

import hashlib
from collections.abc import Iterator

from django.db import models

from chat.models.run import Run

CHUNK = 20
"""How many calls are read at once where all are."""


class RequestCorrupted(Exception):
    """Raised when a stored request does not add up to what was sent."""


class ModelCallQuerySet(models.QuerySet["ModelCall"]):
    """Model calls with their requests rebuilt."""

    def with_requests(self, run: Run) -> Iterator["ModelCall"]:
        """Yield the run's calls in order, each with `request` as it was posted.

        Takes time in proportion to the text of all requests, and memory for those that later ones
        begin with: one a purpose. Raises RequestCorrupted when a digest does not match.
        """
        calls = self.filter(run=run).order_by("index")
        last_use = {base: index for base, index in calls.values_list("base_id", "index") if base}
        requests: dict[int | None, str] = {None: ""}
        for call in calls.iterator(chunk_size=CHUNK):
            call.request = requests[call.base_id][: call.shared] + call.rest
            if digest_of(call.request) != call.digest:
                raise RequestCorrupted(f"{call} was stored wrongly: its request cannot be rebuilt.")
            if call.base_id is not None and last_use[call.base_id] == call.index:
                del requests[call.base_id]
            if call.pk in last_use:
                requests[call.pk] = call.request
            yield call

    def with_request(self, run: Run, index: int) -> "ModelCall":
        """Return one call of the run with its `request`, without rebuilding all the others.

        Raises DoesNotExist, or RequestCorrupted when the digest does not match.
        """
        call = self.get(run=run, index=index)
        earlier = self.filter(run=run, index__lt=index)
        stored = {one.pk: one for one in earlier.only("base_id", "shared", "rest")}
        pieces, needed, base = [call.rest], call.shared, call.base_id
        while needed and base is not None:
            one = stored[base]
            pieces.append(one.rest[: max(0, needed - one.shared)])
            needed, base = min(needed, one.shared), one.base_id
        call.request = "".join(reversed(pieces))
        if digest_of(call.request) != call.digest:
            raise RequestCorrupted(f"{call} was stored wrongly: its request cannot be rebuilt.")
        return call


class ModelCall(models.Model):
    """One call to a model, kept exactly.

    The request is the first `shared` characters of the base call's request followed by `rest`;
    `digest` (SHA-256, hexadecimal) proves the rebuilt text, which `with_requests` puts into
    `request`. `turn_index` is the turn that the call was made in, or one past the last for a call
    that closes the run. Times are seconds; those of a call
    that was not made here may be unknown.
    """

    request: str

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="model_calls")
    index = models.PositiveIntegerField()
    turn_index = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    purpose = models.CharField(max_length=40)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)

    base = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE)
    shared = models.PositiveIntegerField(default=0)
    rest = models.TextField(blank=True)
    digest = models.CharField(max_length=64)

    reply = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    stop_reason = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    first_token_seconds = models.FloatField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)

    objects = ModelCallQuerySet.as_manager()

    class Meta:
        ordering = ["run", "index"]
        constraints = [
            models.UniqueConstraint(fields=["run", "index"], name="one_model_call_per_index"),
        ]

    def __str__(self) -> str:
        return f"Model call {self.index + 1} of run {self.run_id}"


def digest_of(request: str) -> str:
    """Return the SHA-256 of a request's text, hexadecimal."""
    return hashlib.sha256(request.encode()).hexdigest()
