"""Ask the product and wait for the ends: real runs of a real worker, read from its record."""

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agents.policies.spec import Limits
from chat.models import Conversation, ModelCall, Policy, PolicyVersion, Run, RunStatus, User
from chat.runs.ask import ask
from chat.runs.stop import stop
from project.local import programs
from project.local.processes import start
from project.local.processes import stop as end
from tests.real_model.judging import Ended, Question

LOOK_SECONDS = 0.2
PATIENCE = 60.0
"""Seconds after its own time in which a run must have ended."""


def shipped(seconds: float) -> dict[str, PolicyVersion]:
    """Publish each policy as it is shipped, once each, with `seconds` for a run."""
    versions: dict[str, PolicyVersion] = {}
    for policy in Policy.objects.filter(is_offered=True).order_by("pk"):
        spec = policy.latest.spec
        if spec.approve or spec.policy in versions:
            continue  # nobody is here to be asked
        limits = Limits.model_validate(spec.limits.model_dump() | {"seconds": seconds})
        versions[spec.policy] = policy.publish(spec.model_copy(update={"limits": limits}))
    return versions


@contextmanager
def worker(environment: dict[str, str], log: list[str]) -> Iterator[None]:
    """Have a worker for the length of a block; what it writes goes to `log`."""
    child = start(programs.worker(environment), lambda _, line: log.append(line))
    try:
        yield
    finally:
        end([child], patience=15)


def ask_all(
    owner: User, version: PolicyVersion, asked: Sequence[Question], seconds: float
) -> list[Ended]:
    """Ask each question in a conversation of its own, and return how they ended."""
    runs = [_ask(owner, version, question) for question in asked]
    until = time.monotonic() + len(runs) * seconds + PATIENCE
    while _held(runs) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    ended = [_ended(run, question) for run, question in zip(runs, asked, strict=True)]
    for run in Run.objects.live().filter(pk__in=[run.pk for run in runs]):
        stop(run)
    return ended


def _ask(owner: User, version: PolicyVersion, question: Question) -> Run:
    conversation = Conversation.objects.create(owner=owner)
    return ask(conversation, question.text, policy_version=version, client_message_id=uuid.uuid4())


def _held(runs: Sequence[Run]) -> bool:
    live = Run.objects.live().filter(pk__in=[run.pk for run in runs])
    return live.exclude(status=RunStatus.WAITING).exists()


def _ended(run: Run, question: Question) -> Ended:
    run.refresh_from_db()
    calls = list(ModelCall.objects.with_requests(run))
    return Ended(
        policy=run.policy_version.spec.policy,
        question=question,
        status=run.status,
        reason=run.reason,
        message=run.message,
        answer=run.answer,
        is_partial=run.partial,
        calls=len(calls),
        tokens=(run.input_tokens or 0) + (run.output_tokens or 0),
        is_structured=any("response_format" in json.loads(call.request) for call in calls),
    )
