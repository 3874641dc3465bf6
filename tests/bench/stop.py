"""Measure how long a stop takes wherever a run is, on a real worker.

`make bench-stop`, with ROUNDS= (5) and PHASES= (words in the names of phases, separated by commas).
The time goes from the wish to the end in the table, and to the end in the run's stream, which is
what pages are told; where Redis hangs there is only the first. Postgres and Valkey are throw-away.
"""

import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import django  # noqa: E402

from project.local.throwaway import throwaway  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 5)
WANTED = [word.strip() for word in (os.environ.get("PHASES") or "").split(",") if word.strip()]
AIM = 1.0
PATIENCE = 60.0
LOOK = 0.005
SETTLED = 0.5
"""Seconds in the phase before the wish, so that it comes at no special moment."""

DISTURBED = {
    "streaming": ("Redis hangs", "Postgres is slow"),
    "a silent model": ("Redis hangs",),
    "waiting for a slot": ("Redis hangs",),
    "in the Python sandbox": ("Postgres is slow",),
}
SLOW = 0.01
"""Seconds that a slow Postgres needs longer, each way."""


def main() -> None:
    """Stop runs in every phase, round by round, and print the figures."""
    with throwaway() as services, tempfile.TemporaryDirectory() as folder:
        os.environ |= services | {"DJANGO_SETTINGS_MODULE": "project.settings"}
        os.environ["TURNSTONE_LOG_LEVEL"] = "ERROR"
        django.setup()
        measure(Path(folder), services)


def measure(folder: Path, services: dict[str, str]) -> None:
    """Measure beside these services."""
    from django.core.management import call_command

    from tests.worker_stage.phases import PHASES
    from tests.worker_stage.worker import stage

    call_command("migrate", verbosity=0)
    found: dict[str, list[tuple[float, float | None]]] = {}
    with stage(folder, services["DATABASE_URL"], services["REDIS_URL"]) as here:
        for number in range(ROUNDS):
            for phase in PHASES:
                for trouble in ("", *DISTURBED.get(phase.name, ())):
                    name = f"{phase.name}, {trouble}" if trouble else phase.name
                    if WANTED and not any(word in name for word in WANTED):
                        continue
                    here.heal()
                    times = one_stop(here, phase, trouble)
                    found.setdefault(name, []).append(times)
                    print(f"round {number + 1} {name}: {in_words(times)}", flush=True)
    for name, rows in found.items():
        report(name, rows)


def one_stop(here: Any, phase: Any, trouble: str) -> tuple[float, float | None]:
    """Bring a run into the phase, stop it, and return the seconds to its end."""
    from chat.models import Run
    from chat.runs.stop import stop
    from chat.stream.streams import client, run_key

    *others, run = ask_all(here, phase)
    wait_until(lambda: phase.is_reached(here, run), f"a run {phase.name}")
    time.sleep(SETTLED)
    if trouble == "Redis hangs":
        here.redis.hang()
    elif trouble:
        here.postgres.slow_down(SLOW)
    began = time.perf_counter()
    stop(run)
    wait_until(lambda: Run.objects.filter(pk=run.pk, ended_at__isnull=False).exists(), "its end")
    stored = time.perf_counter() - began
    told = None
    if trouble != "Redis hangs":
        wait_until(lambda: has_been_told(client(), run_key(run.pk)), "the news of it")
        told = time.perf_counter() - began
    here.heal()
    for other in others:
        stop(other)
    wait_until(lambda: not Run.objects.live().exists(), "the end of the others")
    return stored, told


def ask_all(here: Any, phase: Any) -> list[Any]:
    """Ask the questions that bring the last of their runs into the phase."""
    from agents.policies.spec import PolicySpec
    from chat.models import Conversation, Policy, User
    from chat.runs.ask import ask

    name = uuid.uuid4().hex[:8]
    conversation = Conversation.objects.create(owner=User.objects.create_user(name))
    policy = Policy.objects.create(slug=name, name=name)
    version = policy.publish(PolicySpec.model_validate(phase.spec(here)))
    return [
        ask(conversation, "Go", policy_version=version, client_message_id=uuid.uuid4())
        for _ in range(phase.others + 1)
    ]


def has_been_told(redis: Any, key: str) -> bool:
    """Tell whether the last frame of a run's stream is its end."""
    newest = redis.xrevrange(key, count=1)
    return bool(newest) and b"end" in newest[0][1]


def wait_until(is_true: Callable[[], bool], what: str) -> None:
    """Wait until something is seen; raises SystemExit when it takes too long."""
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        if time.monotonic() > deadline:
            sys.exit(f"Waited {PATIENCE:.0f} s in vain for {what}.")
        time.sleep(LOOK)


def in_words(times: tuple[float, float | None]) -> str:
    """Return the times of one stop to print."""
    stored, told = times
    return f"stored {stored:.3f} s" + ("" if told is None else f", told {told:.3f} s")


def report(name: str, rows: list[tuple[float, float | None]]) -> None:
    """Print the lines that other programs read."""
    key = name.replace(",", "").replace("'", "").replace(" ", "_")
    for what, values in (
        ("stored", [stored for stored, _ in rows]),
        ("told", [told for _, told in rows if told is not None]),
    ):
        if values:
            median, worst = statistics.median(values), max(values)
            print(f"FIGURE stop_{key}_{what}_median {median:.3f} s vs aim {AIM:g}")
            print(f"FIGURE stop_{key}_{what}_worst {worst:.3f} s vs aim {AIM:g}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
