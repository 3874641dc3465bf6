"""The audit after the chaos: what was lost, what is there twice, and which status lies."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db.models import QuerySet

from agents.errors import Interrupted, NotApproved
from chat.models import (
    ENDED,
    Approval,
    ApprovalStatus,
    Run,
    RunStatus,
    Turn,
    TurnDocument,
    TurnStatus,
)
from chat.operations.verify import Verdict, verify
from chat.stream.render import render_run
from tests.chaos.page import Shown
from tests.chaos.people import Asked, Person
from tests.chaos.scripts import Step
from tests.chaos.stories import MARK

INTERRUPTED = Interrupted.__name__
DENIED, GRANTED = ApprovalStatus.DENIED, ApprovalStatus.GRANTED
VOLATILE = re.compile(r'data-elapsed="[^"]*"')
MAX_TOLD = 15


@dataclass
class Findings:
    """What is wrong, in words, by what it counts as."""

    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def are_none(self) -> bool:
        """Tell whether nothing is wrong."""
        return not (self.lost or self.duplicated or self.wrong)

    def text(self, where: str, shown: str, stored: str) -> None:
        """Compare a text that somebody saw with the stored one."""
        if shown == stored:
            return
        words = f"{where}: {shown[-80:]!r} is not {stored[-80:]!r}"
        more = Counter(shown.split()) - Counter(stored.split())
        (self.duplicated if more else self.lost).append(words)

    def lines(self) -> Iterator[str]:
        """Yield the findings to print, not all of many."""
        kinds = {"lost": self.lost, "duplicated": self.duplicated, "wrong status": self.wrong}
        for kind, found in kinds.items():
            yield from (f"{kind}: {one}" for one in found[:MAX_TOLD])
            if len(found) > MAX_TOLD:
                yield f"{kind}: {len(found) - MAX_TOLD} more"


def audit(people: Iterable[Person], marks: Path, attempts_are_one: bool) -> Findings:
    """Compare what people were told with what is stored, and with what the tools did.

    `attempts_are_one` where nobody struck a worker or its database: then no run changed hands.
    """
    found = Findings()
    rows = {str(run.client_message_id): run for run in _runs()}
    if len(rows) != Run.objects.count():
        found.duplicated.append("One message has several runs.")
    left = Counter(marks.read_text().splitlines())
    told = [(person, asked) for person in people for asked in person.asked]
    for person, asked in told:
        run = rows.pop(asked.message, None)
        if run is None:
            kind = "accepted as run" if asked.run else "never accepted, refused:"
            found.lost.append(f"{asked.story.key} was {kind} {asked.run or asked.refusals[-1:]}")
            continue
        _look_at_run(found, asked, run)
        rests = 1 + len(run.approvals.all())
        if attempts_are_one and run.attempt > rests and asked.stopped_at is None:
            found.wrong.append(f"Run {run.pk} has {run.attempt} attempts, {rests} were needed")
        _look_at_turns(found, asked, run)
        _look_at_marks(found, asked, run, left)
        _look_at_approvals(found, asked, run, left)
        for tab in person.tabs:
            _look_at_page(found, asked, run, tab.page.runs.get(run.pk), tab.kind)
    found.duplicated += [f"Nobody asked for run {run.pk}" for run in rows.values()]
    for person in people:
        found.wrong += [oddity for tab in person.tabs for oddity in tab.page.oddities]
    _look_at_leases(found)
    _look_at_records(found)
    return found


def _runs() -> QuerySet[Run]:
    return Run.objects.select_related("policy_version__policy").prefetch_related(
        "turns", "approvals"
    )


def _look_at_run(found: Findings, asked: Asked, run: Run) -> None:
    name = f"Run {run.pk} ({asked.story.key}, attempt {run.attempt})"
    if asked.run is not None and asked.run != run.pk:
        found.duplicated.append(f"{name} was accepted as run {asked.run}")
    if run.status not in ENDED:
        found.lost.append(f"{name} has not ended, it is {run.status} by {run.worker}")
        return
    honest = set(asked.story.ends)
    if asked.stopped_at is not None:
        honest.add((RunStatus.STOPPED, "stopped"))
    if (run.status, run.reason) not in honest:
        found.wrong.append(f"{name} is {run.status} ({run.reason}): {run.message}")
    if run.status == RunStatus.SUCCEEDED:
        found.text(f"The answer of {name}", run.answer, asked.story.answer)
    elif run.status in (RunStatus.FAILED, RunStatus.EXHAUSTED) and not run.message:
        found.wrong.append(f"{name} does not say why it is {run.status}")


def _look_at_turns(found: Findings, asked: Asked, run: Run) -> None:
    name = f"run {run.pk} ({asked.story.key})"
    turns = list(run.turns.all())
    indexes = [turn.index for turn in turns]
    if indexes != list(range(len(turns))):
        found.lost.append(f"The turns of {name} are {indexes}")
    if asked.story.has_plain_turns:
        if run.status == RunStatus.SUCCEEDED and len(turns) != len(asked.story.steps) + 1:
            found.lost.append(f"{name} has {len(turns)} of {len(asked.story.steps) + 1} turns")
        for turn, step in zip(turns, asked.story.steps, strict=False):
            _look_at_turn(found, run, turn, step)
    if any(turn.status == TurnStatus.OPEN for turn in turns) and run.status in ENDED:
        found.wrong.append(f"A turn of {name} is still open")
    complete = sum(turn.status != TurnStatus.OPEN for turn in turns)
    if TurnDocument.objects.filter(run_document=run.pk).count() < complete:
        found.lost.append(f"Not every turn of {name} can be found")


def _look_at_turn(found: Findings, run: Run, turn: Turn, step: Step) -> None:
    name = f"Turn {turn.number} of run {run.pk} (attempt {turn.attempt} of {run.attempt})"
    if turn.status == TurnStatus.INTERRUPTED:
        if run.status != RunStatus.STOPPED:
            found.wrong.append(f"{name} is cut off, and the run is {run.status}")
        return
    found.text(f"The thought of {name}", turn.thought, step.thought)
    calls = [(action.tool, action.inputs) for action in turn.actions]
    if calls != [(step.tool, {"token": step.token})]:
        found.wrong.append(f"{name} called {calls}")
        return
    (action,) = turn.actions
    refused = {approval.turn_index for approval in run.approvals.all() if approval.status == DENIED}
    if action.error:
        honest = NotApproved.__name__ if turn.index in refused else INTERRUPTED
        if action.error != honest or step.tool != MARK:
            found.wrong.append(f"{name}: {action.error}: {action.observation}")
    elif action.observation != f"{step.tool.rpartition('__')[2]}ed {step.token}":
        found.lost.append(f"{name} observed {action.observation!r}")


def _look_at_marks(found: Findings, asked: Asked, run: Run, left: Counter[str]) -> None:
    actions = {
        action.inputs["token"]: (turn, action)
        for turn in run.turns.all()
        for action in turn.actions
        if action.inputs
    }
    for step in asked.story.steps:
        marks = left[f"{step.tool.rpartition('__')[2]} {step.token}"]
        if step.tool == MARK and marks > 1:
            found.duplicated.append(f"Run {run.pk} made its mark {step.token} {marks} times")
        turn, action = actions.get(step.token, (None, None))
        if turn is None or action is None:
            if run.status == RunStatus.SUCCEEDED:
                found.lost.append(f"Run {run.pk} has no turn that calls {step.token}")
        elif turn.status == TurnStatus.COMPLETE and not action.error and not marks:
            found.lost.append(f"Run {run.pk} says that it marked {step.token} and did not")


def _look_at_approvals(found: Findings, asked: Asked, run: Run, left: Counter[str]) -> None:
    rows = {_step(approval): approval for approval in run.approvals.all()}
    for approval in rows.values():
        _look_at_approval(found, asked, approval)
    granted = {index for index, approval in rows.items() if approval.status == GRANTED}
    for index, step in enumerate(asked.story.steps if asked.story.spec.approve else ()):
        if step.tool == MARK and left[f"mark {step.token}"] and index not in granted:
            found.wrong.append(f"Run {run.pk} made its mark {step.token} without a yes")


def _step(approval: Approval) -> int:
    """Return which step is asked about: they stand in turns of their own, or all in the first."""
    return approval.turn_index + approval.position


def _look_at_approval(found: Findings, asked: Asked, approval: Approval) -> None:
    name = f"Approval {approval.pk} of run {approval.run_id} ({approval.status})"
    said = {GRANTED: "grant", DENIED: "deny"}
    if approval.inputs != {"token": asked.story.steps[_step(approval)].token}:
        found.wrong.append(f"{name} asked about {approval.inputs}")
    if approval.status not in said:
        if asked.stopped_at is None or approval.status == ApprovalStatus.PENDING:
            found.wrong.append(f"{name} was answered by nobody")
    elif said[ApprovalStatus(approval.status)] not in asked.verdicts.get(approval.pk, ()):
        found.wrong.append(f"{name} is not what anybody said")


def _look_at_page(found: Findings, asked: Asked, run: Run, shown: Shown | None, line: str) -> None:
    name = f"a page by {line} of run {run.pk} ({asked.story.key})"
    if shown is None or shown.is_live:
        found.lost.append(f"{name} says {shown and shown.status}, the run is {run.status}")
        return
    found.wrong += [f"{name}: {oddity}" for oddity in shown.oddities]
    if shown.status != run.status:
        found.wrong.append(f"{name} says {shown.status}, the run is {run.status}")
    found.text(name, VOLATILE.sub("", shown.ended_html), VOLATILE.sub("", render_run(run)))
    turns = {turn.index: turn for turn in run.turns.all()}
    for index, thought in shown.streamed.items():
        if index not in turns:
            # One that has begun and is stopped before it is stored leaves nothing.
            if run.status != RunStatus.STOPPED:
                found.wrong.append(f"{name} showed turn {index + 1}, which there is not")
        elif turns[index].status == TurnStatus.COMPLETE:
            found.text(f"turn {index + 1} on {name}", thought.strip(), turns[index].thought)
    if shown.answer is not None and run.status == RunStatus.SUCCEEDED:
        found.text(f"The answer on {name}", shown.answer.strip(), run.answer)


def _look_at_records(found: Findings) -> None:
    """Replay every stored run without a model and without tools, and compare turn by turn."""
    for run in _runs().filter(status__in=ENDED):
        verified = verify(run)
        if verified.verdict is not Verdict.AGREES:
            found.wrong.append(f"The record does not replay: {verified}")


def _look_at_leases(found: Findings) -> None:
    for run in Run.objects.exclude(lease_until=None):
        found.wrong.append(f"Run {run.pk} is leased by {run.worker} and {run.status}")
