"""How a turn and its run are put into words and shapes, for every page that shows one."""

import json
import re
from collections.abc import Sequence
from typing import Any

from django import template
from django.urls import reverse

from agents.contracts import STOPPED_BY_ASKER, Reason
from chat.models import Run, RunStatus, Turn
from chat.runs.line import ahead_of
from chat.transcripts.fold import fold

register = template.Library()

SHOWN_TURNS = 50

WHAT_TO_DO = {
    Reason.TURNS: "Ask a narrower question, or ask again under a policy that allows more turns.",
    Reason.TIME: "Ask a narrower question, or ask again under a policy that allows more time.",
    Reason.BUDGET: "Ask a narrower question, or ask again under a policy that may spend more.",
    Reason.PROVIDER: "Ask again once the model answers.",
    Reason.CONFIGURATION: "Whoever runs this Turnstone has to mend that; then ask again.",
    Reason.INTERNAL: "If it happens twice, tell whoever runs this Turnstone the number of the run.",
}
_GAVE_UP: dict[str, str] = {
    Reason.TIME: "Ran out of time",
    Reason.TURNS: "Ran out of turns",
    Reason.BUDGET: "Ran out of budget",
    Reason.REPEATS: "Kept repeating itself, stopped",
}
_OF_THE_SERVER = re.compile(r" at (?=\S*[.:/])\S*[^\s:.,;]| \(status \d+\)")
"""What a model server's address and its HTTP status look like in a message."""


@register.filter
def seconds(value: float | None) -> str:
    """Write a duration the way people say it: 0.8 s, 12 s, 2 min 05 s, 1 h 04 min."""
    if value is None:
        return ""
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


@register.filter
def thousands(value: int | None) -> str:
    """Write a count with its thousands apart."""
    return "" if value is None else f"{value:,}"


@register.filter
def as_json(value: object) -> str:
    """Write a value as readable JSON, in its own script."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def has_failed(turn: Turn) -> bool:
    """Tell whether a failure came back; an action that was interrupted or not allowed is none."""
    return turn.observation_error not in ("", "Interrupted", "NotApproved")


@register.filter
def kind_in_words(turn: Turn) -> str:
    """Say what kind of turn this is and whether it went well."""
    if has_failed(turn):
        return "action that failed"
    return {"final": "conclusion", "action": "action"}.get(turn.kind, "thought")


@register.filter
def doing_in_words(turn: Turn) -> str:
    """Say what the agent does while the turn's tool runs."""
    return {
        "calculator": "Calculating",
        "convert_units": "Converting units",
        "current_time": "Looking at the clock",
        "python_repl": "Running Python",
        "search_transcripts": "Searching past transcripts",
        "ask_user": "Asking you",
        "http_get": "Reading a web page",
        "web_search": "Searching the web",
        "wikipedia_search": "Reading Wikipedia",
        "wikipedia_lookup": "Reading Wikipedia",
        "browser_goto": "Opening a page in the browser",
        "browser_click": "Clicking in the browser",
        "browser_type": "Typing in the browser",
        "browser_extract": "Reading in the browser",
        "browser_screenshot": "Taking a screenshot",
    }.get(turn.tool, f"Running {turn.tool}")


@register.filter
def error_in_words(turn: Turn) -> str:
    """Say what kind of failure came back instead of an observation."""
    return {
        "ToolNotFound": "No such tool",
        "ToolSelectionError": "No tool fits",
        "InvalidInputs": "The inputs do not fit the tool",
        "ToolFailed": "The tool failed",
        "ToolTimeout": "The tool took too long",
        "ParseError": "The reply did not follow the format",
    }.get(turn.observation_error, turn.observation_error)


@register.filter
def is_prose(text: str | None) -> bool:
    """Tell whether an observation reads as sentences rather than as data."""
    if not text or len(text) < 80 or "\n " in text or "\t" in text:
        return False
    sample = text[:2000]
    letters = sum(c.isalpha() or c.isspace() for c in sample)
    return letters > 0.85 * len(sample) and ". " in sample


@register.filter
def status_in_words(run: Run, turns: Sequence[Turn] | int | None = None) -> str:
    """Say where the run is, or how it ended with how many turns and how long it took.

    Takes the turns or, for a run that has ended, only their number; else they are counted.
    """
    match run.status:
        case RunStatus.QUEUED:
            return _queued(run)
        case RunStatus.RUNNING:
            return _working(turns if isinstance(turns, Sequence) else ())
        case RunStatus.WAITING:
            return "Waiting for you"
        case RunStatus.INTERRUPTED:
            return _resuming(turns if isinstance(turns, Sequence) else ())
    if turns is None:
        turns = run.turns.count()
    return _ended(run, turns if isinstance(turns, int) else len(turns))


@register.filter
def outcome_in_words(run: Run) -> str:
    """Say why a run did not succeed and what can be done about it.

    Where the model's server is, is told to those who run this Turnstone, not to every member.
    """
    advice = WHAT_TO_DO.get(Reason(run.reason), "") if run.reason in list(Reason) else ""
    message = run.message if run.owner.is_staff else _OF_THE_SERVER.sub("", run.message)
    return f"{message} {advice}".strip()


@register.filter
def purpose_in_words(purpose: str) -> str:
    """Say what a model call was for."""
    words = purpose.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


@register.filter
def outcome_tone(run: Run) -> str:
    """Say how loudly the outcome is to be shown."""
    return "error" if run.status == RunStatus.FAILED else "waiting"


@register.filter
def is_tall(text: str | None) -> bool:
    """Tell whether an observation may need to be scrolled, and so must take the focus."""
    return text is not None and (len(text) > 600 or text.count("\n") > 10)


@register.filter
def newest_turns(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the last turns, as many as a conversation shows of one run."""
    return turns[-SHOWN_TURNS:]


@register.filter
def hidden_turns(turns: Sequence[Turn]) -> int:
    """Return how many turns of a run its conversation leaves to the transcript."""
    return max(0, len(turns) - SHOWN_TURNS)


@register.inclusion_tag("chat/_long_text.html")
def long_text(turn: Turn, part: str) -> dict[str, Any]:
    """Show a turn's thought or observation: whole, or with its middle folded away."""
    text = fold((turn.thought if part == "thought" else turn.observation) or "")
    return {"text": text, "url": _text_url(turn, part) if text.is_far else ""}


@register.inclusion_tag("chat/_long_text.html")
def folded(text: str) -> dict[str, Any]:
    """Show any text: whole, or with its middle folded away."""
    return {"text": fold(text), "url": ""}


@register.inclusion_tag("chat/_inputs.html")
def turn_inputs(turn: Turn, with_json: bool | str) -> dict[str, Any]:
    """Show an action's inputs as names and values, with the JSON where it is asked for."""
    values = {
        name: fold(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in (turn.inputs or {}).items()
    }
    is_long = any(value.middle for value in values.values())
    return {
        "turn": turn,
        "inputs": list(values.items()),
        "with_json": with_json,
        "url": _text_url(turn, "inputs") if is_long else "",
    }


def _text_url(turn: Turn, part: str) -> str:
    return "" if turn.pk is None else reverse("turn_text", args=[turn.run_id, turn.number, part])


def _queued(run: Run) -> str:
    ahead = ahead_of([run.pk]).get(run.pk, 0)
    return f"Waiting in line, {ahead} ahead" if ahead else "Next in line"


def _resuming(turns: Sequence[Turn]) -> str:
    last = turns[-1] if turns else None
    if last is not None and last.status == "open" and last.approval and not last.acted_at:
        return "It goes on with your answer as soon as a worker is free"
    return "Interrupted; it goes on as soon as a worker is free"


def _ended(run: Run, count: int) -> str:
    if run.reason == Reason.ASKED:
        return "Has a question for you"
    is_answered = run.status == RunStatus.SUCCEEDED
    words = _how(run)
    if count:
        steps = f"{count} step{'' if count == 1 else 's'}"
        words += f" in {steps}" if is_answered else f" after {steps}"
    return f"{words}, {seconds(run.seconds)}" if run.seconds is not None else words


def _how(run: Run) -> str:
    match run.status:
        case RunStatus.SUCCEEDED:
            return "Answered"
        case RunStatus.EXHAUSTED:
            return _GAVE_UP.get(run.reason, "Gave up")
        case RunStatus.STOPPED if run.message in ("", STOPPED_BY_ASKER):
            return "You stopped this"
        case RunStatus.STOPPED:
            return run.message.rstrip(".")
    return "Could not answer"


def _working(turns: Sequence[Turn]) -> str:
    last = turns[-1] if turns else None
    if last is not None and last.status == "open" and last.tool and last.observation is None:
        return doing_in_words(last)
    return "Thinking"
