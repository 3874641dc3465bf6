"""Where a run is and how it ended, in words that fit who reads them.

`asker` is what the person who asked is called: "you" to themselves, by their name to all others.
What is in a turn's own markup is sent to everybody who watches, and so it names nobody.
"""

import re
from collections.abc import Sequence

from agents.contracts import STOPPED_BY_ASKER, EndReason
from agents.policies.budgets import FREE
from agents.tools.catalogue import doing
from agents.unicode_safety import name_of, noted
from chat.models import Approval, ApprovalStatus, Run, RunStatus, Turn

YOU = "you"

WHAT_TO_DO = {
    EndReason.TURNS: "Ask a narrower question, or ask again under a policy that allows more turns.",
    EndReason.TIME: "Ask a narrower question, or ask again under a policy that allows more time.",
    EndReason.BUDGET: "Ask a narrower question, or ask again under a policy that may spend more.",
    EndReason.PROVIDER: "Ask again once the model answers.",
    EndReason.CONFIGURATION: "Whoever runs this Turnstone has to mend that; then ask again.",
    EndReason.INTERNAL: (
        "If it happens twice, tell whoever runs this Turnstone the number of the run."
    ),
}
_GAVE_UP: dict[str, str] = {
    EndReason.TIME: "Ran out of time",
    EndReason.TURNS: "Ran out of turns",
    EndReason.BUDGET: "Ran out of budget",
    EndReason.REPEATS: "Kept repeating itself, stopped",
    EndReason.ANSWERED: "Cut off",
}
_OF_THE_SERVER = re.compile(r" at (?=\S*[.:/])\S*[^\s:.,;]| \(status \d+\)")
"""What a model server's address and its HTTP status look like in a message."""


def seconds(value: float | None) -> str:
    """Write a duration the way people say it: < 0.1 s, 0.8 s, 12 s, 2 min 05 s, 1 h 04 min."""
    if value is None:
        return ""
    if value < 0.05:
        return "< 0.1 s"
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def doing_in_words(turn: Turn) -> str:
    """Say what the agent does while the turn's open action runs, or else its last."""
    tool = next((action.tool for action in [turn.open_action, *turn.actions[-1:]] if action), "")
    return doing(tool) or f"Running {noted(tool, name_of)}"


def status_in_words(run: Run, turns: Sequence[Turn] | int = (), asker: str = YOU) -> str:
    """Say where the run is, or how it ended with how many turns and how long it took.

    Takes the turns or, for a run that has ended, only their number. Of a queued run its place is
    said once it was told.
    """
    match run.status:
        case RunStatus.QUEUED:
            return _queued(run)
        case RunStatus.RUNNING if run.is_stalled:
            return "Interrupted; it will go on"
        case RunStatus.RUNNING:
            return _working(turns if isinstance(turns, Sequence) else ())
        case RunStatus.WAITING:
            return f"Waiting for {asker}"
        case RunStatus.INTERRUPTED:
            return _resuming(turns if isinstance(turns, Sequence) else ())
    return _ended(run, turns if isinstance(turns, int) else len(turns), asker)


def outcome_in_words(run: Run, asker: str = YOU, *, tells_server: bool = False) -> str:
    """Say why a run did not succeed and, to who asked, what can be done about it.

    Where the model's server is, is told to those who run this Turnstone, not to every member.
    """
    told = message_in_words(run, asker)
    message = told if tells_server else _OF_THE_SERVER.sub("", told)
    advice = WHAT_TO_DO.get(EndReason(run.reason), "") if run.reason in list(EndReason) else ""
    return f"{message} {advice}".strip() if asker == YOU else message


def message_in_words(run: Run, asker: str = YOU) -> str:
    """Return what the run said at its end; a stop is stored as it is told to who asked."""
    return f"{_stopped(run, asker)}." if run.status == RunStatus.STOPPED else run.message


def outcome_tone(run: Run) -> str:
    """Say how loudly the outcome is to be shown."""
    return "error" if run.status == RunStatus.FAILED else "waiting"


def _queued(run: Run) -> str:
    if run.ahead is None:
        return "Waiting in line"
    return f"Waiting in line, {run.ahead} ahead" if run.ahead else "Next in line"


def _resuming(turns: Sequence[Turn]) -> str:
    action = turns[-1].open_action if turns and turns[-1].status == "open" else None
    if action is not None and action.approval and not action.started_at:
        return "It goes on with the answer as soon as a worker is free"
    return "Interrupted; it goes on as soon as a worker is free"


def _ended(run: Run, count: int, asker: str) -> str:
    if run.reason == EndReason.ASKED:
        return f"Has a question for {asker}"
    is_answered = run.status == RunStatus.SUCCEEDED
    words = _how(run, asker)
    if count:
        steps = f"{count} step{'' if count == 1 else 's'}"
        words += f" in {steps}" if is_answered else f" after {steps}"
    return f"{words}, {seconds(run.seconds)}" if run.seconds is not None else words


def _how(run: Run, asker: str) -> str:
    match run.status:
        case RunStatus.SUCCEEDED:
            return "Answered"
        case RunStatus.EXHAUSTED:
            return _GAVE_UP.get(run.reason, "Gave up")
        case RunStatus.STOPPED:
            return _stopped(run, asker)
    return "Could not answer"


def _stopped(run: Run, asker: str) -> str:
    if run.message not in ("", STOPPED_BY_ASKER):
        return run.message.rstrip(".")
    return "You stopped this" if asker == YOU else f"{asker} stopped this"


def _working(turns: Sequence[Turn]) -> str:
    if turns and turns[-1].status == "open" and turns[-1].open_action is not None:
        return doing_in_words(turns[-1])
    return "Thinking"


def approval_in_words(approval: Approval) -> str:
    """Say what became of the question, and who answered it."""
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    return {
        ApprovalStatus.PENDING: "Waits for an answer.",
        ApprovalStatus.GRANTED: f"Allowed{by}",
        ApprovalStatus.DENIED: f"Refused{by}",
        ApprovalStatus.EXPIRED: "Not answered in time",
        ApprovalStatus.WITHDRAWN: "Stopped before it was answered",
    }[ApprovalStatus(approval.status)]


def answered_by(run: Run) -> str:
    """Say whose model answered, and in whose place; nothing of one that nobody is paid for."""
    if not run.provider or run.provider in FREE:
        return ""
    instead = f", for {run.instead_of} did not answer" if run.instead_of else ""
    return f" by {run.provider}{instead}"
