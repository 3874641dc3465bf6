"""Ask a real model in every policy, behind the whole product: `make real-model`.

SmolLM2 in llama.cpp with two slots at most, throw-away Postgres and Valkey, a real worker. Every
policy is asked the questions of `questions.toml` (COUNT= of them, SECONDS= for each run, ONLY= one
policy); those that ask their server for JSON are asked once more behind a server that refuses
that. A run may fail and be wrong, but must end honestly and in few calls (`judging`). Ends with 1
where one did not. MODEL= asks another model.
"""

import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import django

from project.local.model.server import ModelServer, model_server
from project.local.processes import start, stop
from project.local.throwaway import throwaway, wait_until
from tests.real_model.judging import Ended, Question, questions
from tests.real_model.plain_server import plain_server

if TYPE_CHECKING:
    from chat.models import User

QUESTIONS = Path(__file__).with_name("questions.toml")
COUNT = int(os.environ.get("COUNT") or 20)
SECONDS = float(os.environ.get("SECONDS") or 60)
ONLY = os.environ.get("ONLY") or ""
MOST_SLOTS = 2
LOADING_SECONDS = 120
LOG_LINES = 40


def main() -> int:
    """Ask all, print what came of it by policy, and return 1 where a run ended badly."""
    asked = questions(QUESTIONS, datetime.now(UTC).date())[:COUNT]
    with served(os.environ.get("MODEL") or "smollm2") as model, throwaway() as services:
        os.environ.update(services | model.settings(os.environ) | _bounds(model))
        owner = _prepare()
        on = asked_behind(owner, os.environ["OPENAI_BASE_URL"], asked, "on")
        structured = {one.policy for one in on if one.is_structured}
        address = f"http://127.0.0.1:{model.port}"
        with plain_server(address) as plain:
            off = asked_behind(owner, f"{plain}/v1", asked, "off", structured)
    faults = [fault for one in (*on, *off) for fault in told(one)]
    print(*faults, sep="\n", flush=True)
    print(f"{len(on) + len(off)} runs, {len(faults)} faults", flush=True)
    return 1 if faults or not on else 0


@contextmanager
def served(name: str) -> Iterator[ModelServer]:
    """Serve a model for the length of a block."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "model.log"
        model = model_server(name, log)
        slots = min(model.room.slots, MOST_SLOTS)
        model = replace(model, room=replace(model.room, slots=slots))
        child = start(model.program(), lambda *_: None)
        try:
            wait_until(model.is_ready, child, log, LOADING_SECONDS)
            yield model
        finally:
            stop([child], patience=5)


def _bounds(model: ModelServer) -> dict[str, str]:
    """Return settings by which each run has its time to itself, and nobody asks too much."""
    return {
        "WORKER_THREADS": str(model.room.slots),
        "TURNSTONE_RUNS_PER_USER": "0",
        "TURNSTONE_QUESTIONS_PER_MINUTE": "0",
        "TURNSTONE_WAITING_PER_USER": "0",
        "TURNSTONE_NETWORK_TOOLS": "false",
        "PYTHONUNBUFFERED": "1",
        "DJANGO_SETTINGS_MODULE": "project.settings",
    }


def _prepare() -> "User":
    django.setup()
    from django.core.management import call_command

    from chat.models import User

    call_command("migrate", verbosity=0)
    return User.objects.create_user("asker")


def asked_behind(
    owner: "User",
    address: str,
    asked: Sequence[Question],
    mode: str,
    policies: set[str] | None = None,
) -> list[Ended]:
    """Ask all questions of all or some policies, at the model behind an address."""
    from tests.real_model.asking import ask_all, shipped, worker

    found: list[Ended] = []
    log: list[str] = []
    versions = shipped(SECONDS)
    wanted = [n for n in versions if ONLY in ("", n) and (policies is None or n in policies)]
    with worker({**os.environ, "OPENAI_BASE_URL": address}, log):
        for name in wanted:
            began = time.monotonic()
            ended = ask_all(owner, versions[name], asked, SECONDS)
            print(summary(name, mode, ended, time.monotonic() - began), flush=True)
            found += ended
    if any("Traceback" in line for line in log):
        print(*log[-LOG_LINES:], sep="\n", flush=True)
    return found


def summary(policy: str, mode: str, ended: Sequence[Ended], seconds: float) -> str:
    """Say in one line how the runs of a policy ended."""
    ends = Counter(f"{one.status}/{one.reason}" if one.reason else one.status for one in ended)
    partial = sum(one.is_partial for one in ended)
    calls = [one.calls for one in ended]
    asking = [one for one in ended if one.question.right]
    right = sum(one.is_right for one in asking)
    return (
        f"{policy:<13} structured {mode:<3} "
        + ", ".join(f"{count} {end}" for end, count in ends.most_common())
        + f" ({partial} partial); calls {statistics.median(calls):g} (most {max(calls)}); "
        f"tokens {sum(one.tokens for one in ended)}; right {right} of {len(asking)}; "
        f"{seconds:.0f} s"
    )


def told(one: Ended) -> Iterator[str]:
    """Say which run ended badly, and how."""
    for fault in one.faults():
        yield f"BAD {one.policy}, {one.question.text!r}: {fault}"


if __name__ == "__main__":
    sys.exit(main())
