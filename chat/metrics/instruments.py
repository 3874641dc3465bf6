"""What a process counts and times while it works; each process tells its own figures.

Labels are few and known beforehand: no text of a person or a model becomes one. Times are seconds.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from agents import contracts

# The slots are counted in processes without Django, too.
if TYPE_CHECKING:
    from chat.models import Run, Turn

MOMENTS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SPANS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)

RUNS_ASKED = Counter("turnstone_runs_asked", "Questions that became a run.")
ATTEMPTS = Counter("turnstone_attempts", "Claims of a run by this worker.", ["kind"])
QUEUE_SECONDS = Histogram(
    "turnstone_queue_seconds", "From the question to the first claim.", buckets=SPANS
)
RUNS_ENDED = Counter("turnstone_runs_ended", "Runs that ended here.", ["status", "reason"])
RUN_SECONDS = Histogram(
    "turnstone_run_seconds", "From a run's first claim to its end.", ["status"], buckets=SPANS
)
TURN_SECONDS = Histogram("turnstone_turn_seconds", "Length of complete turns.", buckets=SPANS)
FIRST_TEXT_SECONDS = Histogram(
    "turnstone_first_text_seconds",
    "From the question to the first text of a run that was not resumed.",
    buckets=SPANS,
)

MODEL_CALLS = Counter("turnstone_model_calls", "Calls to models.", ["provider", "result"])
MODEL_CALL_SECONDS = Histogram(
    "turnstone_model_call_seconds", "Length of calls to models.", ["provider"], buckets=SPANS
)
MODEL_FIRST_TOKEN_SECONDS = Histogram(
    "turnstone_model_first_token_seconds",
    "From the posted request to the first token.",
    ["provider"],
    buckets=MOMENTS,
)
TOKENS = Counter(
    "turnstone_tokens", "Tokens as the servers counted them.", ["provider", "direction"]
)
PROVIDER_WAIT_SECONDS = Histogram(
    "turnstone_provider_wait_seconds",
    "How long calls queued for a slot of their provider.",
    ["provider"],
    buckets=MOMENTS,
)

STREAM_LAG_SECONDS = Histogram(
    "turnstone_stream_lag_seconds",
    "How long the oldest event of a flush waited until Redis had it.",
    buckets=MOMENTS,
)
LEASES_EXPIRED = Counter("turnstone_leases_expired", "Runs whose worker was gone, put back here.")
LEASES_LOST = Counter("turnstone_leases_lost", "Runs that went on without this worker.")
VIEWERS = Gauge("turnstone_viewers", "Live pages that this process serves, in either way.")
VIEWERS_CLOSED = Counter("turnstone_viewers_closed", "Live pages that were closed here.", ["code"])
SNAPSHOTS = Counter(
    "turnstone_snapshots", "Runs sent to a page as they are stored, for frames were missing."
)

ARTIFACTS_AWAY = Counter(
    "turnstone_artifacts_away", "Observations that stayed in their rows, artifacts being away."
)


def count_attempt(run: "Run") -> None:
    """Count a claimed run; the first claim tells how long it waited."""
    ATTEMPTS.labels("first" if run.attempt == 1 else "again").inc()
    if run.attempt == 1:
        QUEUE_SECONDS.observe(_since(run.created_at, run.claimed_at or run.created_at))


def count_first_text(run: "Run") -> None:
    """Time the first text of a run."""
    FIRST_TEXT_SECONDS.observe(_since(run.created_at, run.clock.now()))


def count_turn(turn: "Turn") -> None:
    """Time a turn that is complete."""
    if turn.seconds is not None:
        TURN_SECONDS.observe(turn.seconds)


def count_call(call: contracts.ModelCall) -> None:
    """Count a call to a model, its times and its tokens."""
    provider = call.provider
    MODEL_CALLS.labels(provider, "error" if call.error else "ok").inc()
    MODEL_CALL_SECONDS.labels(provider).observe(call.seconds)
    if call.first_token_seconds is not None:
        MODEL_FIRST_TOKEN_SECONDS.labels(provider).observe(call.first_token_seconds)
    TOKENS.labels(provider, "input").inc(call.usage.input_tokens or 0)
    TOKENS.labels(provider, "output").inc(call.usage.output_tokens or 0)


def count_end(run: "Run") -> None:
    """Count a run that this process ended."""
    RUNS_ENDED.labels(run.status, run.reason).inc()
    if run.seconds is not None:
        RUN_SECONDS.labels(run.status).observe(run.seconds)


def _since(moment: datetime, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds())
