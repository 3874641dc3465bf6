"""A model call: the exact request and reply, without storing twice what two requests share."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from types import MappingProxyType

from django.db import models

from chat.models.ordered_json import OrderedJSONField
from chat.models.piece import Piece
from chat.models.run import Run
from chat.request import Listed, Lists, RequestCorrupted, digest_of, own

CHUNK = 20
"""How many calls are read at once where all are."""


class ModelCallQuerySet(models.QuerySet["ModelCall"]):
    """Model calls with their requests rebuilt."""

    def so_far(self, run: Run) -> "ModelCallQuerySet":
        """Return the run's calls in order, without those that will be made from now on."""
        calls = self.filter(run=run).order_by("index")
        last = calls.aggregate(last=models.Max("index", default=-1))["last"]
        return calls.filter(index__lte=last)

    def with_requests(self, run: Run) -> Iterator["ModelCall"]:
        """Yield the run's calls in order, each with `request` as it was posted.

        Takes time in proportion to the text of all requests, and memory for those that later ones
        begin with: one a purpose. Raises RequestCorrupted when a digest does not match.
        """
        calls = self.so_far(run)
        by_pieces = _Pieces(run, calls)
        by_base = _Bases(calls)
        rows = calls.iterator(chunk_size=CHUNK)
        while portion := deque(islice(rows, CHUNK)):
            by_pieces.fetch(portion)
            while portion:
                call = portion.popleft()
                (by_base if call.pieces is None else by_pieces).complete(call)
                yield call

    def with_request(self, run: Run, index: int) -> "ModelCall":
        """Return one call of the run with its `request`, without rebuilding all the others.

        Raises DoesNotExist, or RequestCorrupted when the digest does not match.
        """
        call = self.get(run=run, index=index)
        earlier = self.filter(run=run, index__lte=index)
        if call.pieces is None:
            call.request = _from_bases(call, earlier)
            _check(call)
        else:
            _Pieces(run, earlier).complete_alone(call)
        return call


class ModelCall(models.Model):
    """One call to a model, kept exactly.

    The request is that of its `pieces`, one after the other (see `chat.request`); `digest`
    (SHA-256, hexadecimal) proves the rebuilt text, which `with_requests` puts into `request`. Where
    pieces were redacted, `redacted_at` is when the last was, and the digest proves nothing more.
    Calls of earlier releases have no pieces: their request is the first `shared` characters of the
    base call's request followed by `rest`. `turn_index` is the turn that the call was made in, or
    one past the last for a call that closes the run. Times are seconds; those of a call that was
    not made here may be unknown. `address` is where the server was that was asked, which is not
    shown; empty for a model without one and for calls of earlier releases. `space_id` is the run's.
    `brings` has the texts of the pieces that a new call is stored with, by their digests.
    """

    request: str
    redacted_at: datetime | None = None
    brings: Mapping[str, str] = MappingProxyType({})

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="model_calls", db_index=False
    )
    space_id = models.BigIntegerField(editable=False)
    index = models.PositiveIntegerField()
    turn_index = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    purpose = models.CharField(max_length=40)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    address = models.CharField(max_length=500, blank=True, default="", db_default="")

    pieces = OrderedJSONField(null=True, editable=False)
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
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    reasoning_tokens = models.PositiveIntegerField(null=True, blank=True)
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


class _Pieces:
    """Requests out of pieces; keeps the pieces that later calls of the run begin with."""

    def __init__(self, run: Run, calls: ModelCallQuerySet) -> None:
        self._run = run
        stored = calls.filter(pieces__isnull=False).values_list("index", "pieces")
        self._listed: dict[int, Listed] = {index: pieces or [] for index, pieces in stored}
        self._lists = Lists(self._listed.items())
        self._found: dict[str, Piece] = {}

    def fetch(self, portion: Iterable[ModelCall]) -> None:
        """Read the pieces that the next calls bring, and let go of those that are done with."""
        kept = self._lists.kept()
        self._found = {digest: self._found[digest] for digest in kept}
        missing = {digest for call in portion for digest in own(call.pieces or [])} - kept
        self._read(missing)

    def complete(self, call: ModelCall) -> None:
        """Put the request of the next call together; raises RequestCorrupted."""
        self._fill(call, self._lists.of(call.index, call.pieces))

    def complete_alone(self, call: ModelCall) -> None:
        """Put the request of the last call together, reading no text of those before it."""
        digests: list[str] = []
        for index in sorted(self._listed):
            digests = self._lists.of(index, self._listed[index])
        self._read(set(digests))
        self._fill(call, digests)

    def _read(self, digests: set[str]) -> None:
        if not digests:
            return
        for piece in Piece.objects.filter(run=self._run, digest__in=digests):
            self._found[piece.digest.hex] = piece

    def _fill(self, call: ModelCall, digests: list[str]) -> None:
        try:
            pieces = [self._found[digest] for digest in digests]
        except KeyError:
            raise _corrupted(call) from None
        call.request = "".join(piece.text for piece in pieces)
        call.redacted_at = max(
            (piece.redacted_at for piece in pieces if piece.redacted_at), default=None
        )
        if call.redacted_at is None:
            _check(call)
        elif not all(piece.is_as_sent for piece in pieces if not piece.redacted_at):
            raise _corrupted(call)


class _Bases:
    """Requests in the form of earlier releases; keeps those that later calls begin with."""

    def __init__(self, calls: ModelCallQuerySet) -> None:
        links = calls.filter(base__isnull=False).values_list("base_id", "index")
        self._last_use = dict(links)
        self._requests: dict[int | None, str] = {None: ""}

    def complete(self, call: ModelCall) -> None:
        """Put the request of the next call together; raises RequestCorrupted."""
        call.request = self._requests[call.base_id][: call.shared] + call.rest
        _check(call)
        if call.base_id is not None and self._last_use[call.base_id] == call.index:
            del self._requests[call.base_id]
        if call.pk in self._last_use:
            self._requests[call.pk] = call.request


def _from_bases(call: ModelCall, earlier: ModelCallQuerySet) -> str:
    stored = {one.pk: one for one in earlier.only("base_id", "shared", "rest")}
    parts, needed, base = [call.rest], call.shared, call.base_id
    while needed and base is not None:
        one = stored[base]
        parts.append(one.rest[: max(0, needed - one.shared)])
        needed, base = min(needed, one.shared), one.base_id
    return "".join(reversed(parts))


def _check(call: ModelCall) -> None:
    if digest_of(call.request) != call.digest:
        raise _corrupted(call)


def _corrupted(call: ModelCall) -> RequestCorrupted:
    return RequestCorrupted(f"{call} was stored wrongly: its request cannot be rebuilt.")
