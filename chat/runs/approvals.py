"""Approvals of risky actions: asked in a run, answered once by its owner, or by time.

The question is a row, so it outlives the worker, the page and Redis. While it is open the run is
held by nobody; the answer puts the run back into the queue, and the worker that takes it finds the
answer here.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from agents.act import approval as contract
from agents.contracts import ToolCall
from agents.control import Control
from agents.errors import Parked, Stopped
from agents.text import storable
from agents.tools.spec import Tool
from chat.models import (
    ENDED,
    Action,
    Approval,
    ApprovalStatus,
    Run,
    RunStatus,
    Turn,
    TurnStatus,
    User,
)
from chat.runs.db_retry import retrying
from chat.runs.lease import fence, park, retrying_last
from chat.runs.stored_json import storable_json
from chat.runs.validation import MAX_FEEDBACK
from chat.runs.wake import wake
from chat.search.documents.turns import index_turn
from chat.stream import frames
from chat.stream.announce import announce_interrupted
from chat.stream.channel import Channel
from chat.stream.render import render_turn

MAX_RESUMED = 100
"""How many runs one pass puts back into the queue."""

CHANGED = "What was to be run is not what was asked about."
SILENT = "Nobody answered in time."


class NotOpen(Exception):
    """Raised for an approval that has another answer already; the text is for who answers."""


class Asker:
    """Ask the owner of one attempt's run, or find what they said; the run is parked meanwhile."""

    def __init__(self, run: Run, channel: Channel, control: Control) -> None:
        self._run = run
        self._channel = channel
        self._control = control

    def __call__(self, tool: Tool, call: ToolCall, why: str) -> contract.ApprovalAnswer:
        """Return the answer to the open action; raises Parked while there is none.

        Raises Stopped, and LeaseLost when the run has gone on elsewhere.
        """
        turn, action, row = retrying(self._find, self._control)
        if row is None or row.is_pending:
            row = self._wait(turn, action, tool, call, why)
        if not _is_of(row, tool, call) or not _is_of(action, tool, call):
            return contract.ApprovalAnswer(granted=False, feedback=CHANGED)
        if row.status == ApprovalStatus.GRANTED:
            moment = self._run.clock.now()
            has_begun = retrying(lambda: self._has_begun(action, moment), self._control)
            return contract.ApprovalAnswer(granted=True, has_begun=has_begun)
        silent = row.status != ApprovalStatus.DENIED
        return contract.ApprovalAnswer(granted=False, feedback=SILENT if silent else row.feedback)

    def _find(self) -> tuple[Turn, Action, Approval | None]:
        turn = self._run.turns.filter(status=TurnStatus.OPEN).latest("index")
        Approval.objects.attach([turn])
        action = turn.open_action
        if action is None:
            raise RuntimeError(f"{turn} has no action to ask about.")
        return turn, action, action.approval

    def _wait(self, turn: Turn, action: Action, tool: Tool, call: ToolCall, why: str) -> Approval:
        """Park the run and raise Parked; return the answer if it has come in this very moment."""
        reserved = self._channel.reserve()
        row = retrying_last(
            lambda: self._park(turn, action, tool, call, why, reserved),
            lambda: self._parked(turn, action, reserved),
            self._control,
        )
        action.approval = row
        html = retrying(lambda: render_turn(turn, self._run), self._control)
        event = frames.approval("requested" if row.is_pending else "decided", turn.index, html)
        self._channel.put_reserved(reserved, event)
        if row.is_pending:
            raise Parked
        return row

    def _park(
        self, turn: Turn, action: Action, tool: Tool, call: ToolCall, why: str, reserved: str
    ) -> Approval:
        run = Run.objects.select_for_update(no_key=True).get(pk=self._run.pk)
        row = run.approvals.filter(turn_index=turn.index, position=action.position).first()
        if row is not None and (_is_parked(run, reserved) or not row.is_pending):
            return row
        if run.stop_requested_at is not None:
            raise Stopped
        park(self._run, stream_id=reserved)
        Turn.objects.filter(pk=turn.pk).update(stream_id=reserved)
        if row is None:
            row = run.approvals.create(
                space_id=run.space_id,
                turn_index=turn.index,
                position=action.position,
                tool=storable(tool.name)[:120],
                inputs=storable_json(call.inputs),
                safety=tool.safety,
                why=storable(why)[:500],
                expires_at=Now() + timedelta(seconds=settings.APPROVAL_SECONDS),
            )
            row.refresh_from_db()
            index_turn(turn)  # it may stay open for an hour, and is looked for meanwhile
        self._run.status, self._run.stream_id = RunStatus.WAITING, reserved
        return row

    def _parked(self, turn: Turn, action: Action, reserved: str) -> Approval | None:
        run = Run.objects.get(pk=self._run.pk)
        if not _is_parked(run, reserved):
            return None
        self._run.status, self._run.stream_id = RunStatus.WAITING, reserved
        return run.approvals.filter(turn_index=turn.index, position=action.position).first()

    def _has_begun(self, action: Action, moment: datetime) -> bool:
        """Write down that the action begins, before it does; tell whether it had before."""
        fence(self._run)
        begins = Action.objects.filter(Q(started_at=None) | Q(started_at=moment), pk=action.pk)
        return not begins.update(started_at=moment)


def _is_parked(run: Run, reserved: str) -> bool:
    return run.status == RunStatus.WAITING and run.stream_id == reserved


def decide(approval: Approval, *, by: User, grant: bool, feedback: str = "") -> None:
    """Answer an approval and put its run back to work; the same answer again changes nothing.

    Raises NotOpen when it has another answer. Whether `by` may answer is for the caller to know.
    """
    status = ApprovalStatus.GRANTED if grant else ApprovalStatus.DENIED
    said = storable(feedback.replace("\0", "")).strip()[:MAX_FEEDBACK]
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=approval.run_id)
        open_still = Approval.objects.filter(
            pk=approval.pk, status=ApprovalStatus.PENDING, expires_at__gt=Now()
        ).exclude(run__status__in=ENDED)
        if open_still.update(status=status, feedback=said, decided_by=by, decided_at=Now()):
            _resume(run.pk)
            # The answer is stored, whatever becomes of the news of it.
            transaction.on_commit(partial(announce_interrupted, run), robust=True)
            transaction.on_commit(partial(wake, run.pk), robust=True)
    approval.refresh_from_db()
    if approval.status != status:
        raise NotOpen(_too_late(approval))


def expire() -> list[int]:
    """Let silence be a no, and return the runs that go on; the caller tells of them.

    What no answer would ever reach is mended: a run that waits for nothing, and an approval whose
    run has ended.
    """
    pending = Approval.objects.filter(status=ApprovalStatus.PENDING)
    pending.filter(run__status__in=ENDED).update(status=ApprovalStatus.WITHDRAWN, decided_at=Now())
    pending.filter(expires_at__lte=Now()).update(status=ApprovalStatus.EXPIRED, decided_at=Now())
    waiting = _waiting_for_nothing().order_by("pk").values_list("pk", flat=True)
    return [run_id for run_id in waiting[:MAX_RESUMED] if _resume_unless_asked(run_id)]


@transaction.atomic
def _resume_unless_asked(run_id: int) -> bool:
    # A run that somebody answers for is locked, and goes on anyway.
    locked = Run.objects.select_for_update(skip_locked=True, no_key=True).filter(pk=run_id).first()
    goes_on = locked is not None and _waiting_for_nothing().filter(pk=run_id).exists()
    if goes_on:
        _resume(run_id)
    return goes_on


def _waiting_for_nothing() -> QuerySet[Run]:
    pending = Approval.objects.filter(run=OuterRef("pk"), status=ApprovalStatus.PENDING)
    return Run.objects.filter(~Exists(pending), status=RunStatus.WAITING, ended_at=None)


def _resume(run_id: int) -> None:
    """Put a run that has its answer back into the queue."""
    waiting = Run.objects.filter(pk=run_id, status=RunStatus.WAITING)
    waiting.update(status=RunStatus.INTERRUPTED)


def _is_of(asked: Approval | Action, tool: Tool, call: ToolCall) -> bool:
    """Tell whether this is the very call that was asked about, to the letter."""
    name = tool.name if isinstance(asked, Approval) else call.tool
    return asked.tool == storable(name)[:120] and _exactly(asked.inputs) == _exactly(call.inputs)


def _exactly(inputs: Mapping[str, Any] | None) -> str:
    return json.dumps(storable_json(inputs), sort_keys=True)


def _too_late(approval: Approval) -> str:
    match approval.status:
        case ApprovalStatus.GRANTED:
            return "This was allowed already."
        case ApprovalStatus.DENIED:
            return "This was refused already."
        case ApprovalStatus.WITHDRAWN:
            return "The run was stopped before this was answered."
        case _:
            return "This was not answered in time, and did not run."
