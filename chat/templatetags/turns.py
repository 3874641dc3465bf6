"""How a turn and its run are put into words and shapes, for every page that shows one."""

import json
from collections.abc import Sequence
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from agents.errors import ErrorKind
from chat.models import Action, Run, Turn
from chat.runs.words import (
    YOU,
    answered_by,
    doing_in_words,
    outcome_in_words,
    outcome_tone,
    seconds,
    status_in_words,
)
from chat.stream.answers import shown_answer
from chat.transcripts.fold import fold

register = template.Library()
register.simple_tag(shown_answer, name="answer_of")

SHOWN_TURNS = 50

register.simple_tag(answered_by)
register.filter(seconds)
register.filter(doing_in_words)
register.filter(outcome_tone)


@register.filter
def thousands(value: int | None) -> str:
    """Write a count with its thousands apart."""
    return "" if value is None else f"{value:,}"


@register.filter
def as_json(value: object) -> str:
    """Write a value as readable JSON, in its own script."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def has_failed(action: Action) -> bool:
    """Tell whether a failure came back; an action that was interrupted or not allowed is none."""
    return action.error not in ("", ErrorKind.INTERRUPTED, ErrorKind.NOT_APPROVED)


@register.filter
def is_failure(turn: Turn) -> bool:
    """Tell whether an action of the turn failed."""
    return any(map(has_failed, turn.actions))


@register.filter
def in_short(tools: Sequence[str]) -> str:
    """Name the first of a turn's tools, and say how many more there are."""
    return " ".join([*tools[:1], *([f"+{len(tools) - 1}"] if len(tools) > 1 else [])])


@register.filter
def kind_in_words(turn: Turn) -> str:
    """Say what kind of turn this is and whether it went well."""
    if is_failure(turn):
        return "action that failed"
    return {"final": "conclusion", "action": "action"}.get(turn.kind, "thought")


@register.filter
def error_in_words(action: Action) -> str:
    """Say what kind of failure came back instead of an observation."""
    words: dict[str, str] = {
        ErrorKind.TOOL_NOT_FOUND: "No such tool",
        ErrorKind.TOOL_SELECTION_ERROR: "No tool fits",
        ErrorKind.INVALID_INPUTS: "The inputs do not fit the tool",
        ErrorKind.TOOL_FAILED: "The tool failed",
        ErrorKind.TOOL_TIMEOUT: "The tool took too long",
        ErrorKind.PARSE_ERROR: "The reply did not follow the format",
    }
    return words.get(action.error, action.error)


@register.filter
def place_in(action: Action, turn: Turn) -> str:
    """Say which action of which turn it is: turn 3 or, of several, turn 3, action 2."""
    place = f"turn {turn.number}"
    return f"{place}, action {action.number}" if len(turn.actions) > 1 else place


@register.filter
def repeats_its_question(action: Action) -> bool:
    """Tell whether an observation is only the question that the agent asks, which the run shows."""
    return action.tool == "ask_user" and action.ends != ""


@register.filter
def is_prose(text: str | None) -> bool:
    """Tell whether an observation reads as sentences rather than as data."""
    if not text or len(text) < 80 or "\n " in text or "\t" in text:
        return False
    sample = text[:2000]
    letters = sum(c.isalpha() or c.isspace() for c in sample)
    return letters > 0.85 * len(sample) and ". " in sample


@register.simple_tag(takes_context=True)
def status_words(context: Context, run: Run, turns: Sequence[Turn] | int = ()) -> str:
    """Say to who reads the page where the run is, or how it ended."""
    return status_in_words(run, turns, _asker(context, run))


@register.simple_tag(takes_context=True)
def outcome_words(context: Context, run: Run) -> str:
    """Say to who reads the page why a run did not succeed, and what can be done about it."""
    reader = context.get("user")
    is_staff = reader.is_staff if reader is not None else run.owner.is_staff
    return outcome_in_words(run, _asker(context, run), tells_server=is_staff)


def _asker(context: Context, run: Run) -> str:
    """Return what the person who asked is called on this page: "you", or their name to others.

    A frame knows no reader; its article is shown in the conversation, which only its owner has.
    """
    reader = context.get("user")
    is_own = reader is None or reader.pk == run.owner_id
    return YOU if is_own else run.owner.get_username()


@register.filter
def purpose_in_words(purpose: str) -> str:
    """Say what a model call was for."""
    words = purpose.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


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


@register.inclusion_tag("chat/run/_long_text.html")
def turn_thought(turn: Turn) -> dict[str, Any]:
    """Show a turn's thought: whole, or with its middle folded away."""
    text = fold(turn.thought)
    is_linked = text.is_far and turn.pk is not None
    url = reverse("turn_text", args=[turn.run_id, turn.number]) if is_linked else ""
    return {"text": text, "url": url}


@register.inclusion_tag("chat/run/_long_text.html")
def action_observation(action: Action, turn: Turn) -> dict[str, Any]:
    """Show what came back of an action: whole, or with its middle folded away."""
    head, tail, between = action.ends_of_text
    text = fold(head + tail, between) if action.whole else fold(action.observation or "")
    return {"text": text, "url": _text_url(action, turn, "observation") if text.is_far else ""}


@register.inclusion_tag("chat/run/_long_text.html")
def folded(text: str) -> dict[str, Any]:
    """Show any text: whole, or with its middle folded away."""
    return {"text": fold(text), "url": ""}


@register.inclusion_tag("chat/run/_inputs.html")
def action_inputs(action: Action, turn: Turn, with_json: bool | str) -> dict[str, Any]:
    """Show an action's inputs as names and values, with the JSON where it is asked for."""
    values = {
        name: fold(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in (action.inputs or {}).items()
    }
    is_long = any(value.middle for value in values.values())
    return {
        "action": action,
        "inputs": list(values.items()),
        "with_json": with_json,
        "url": _text_url(action, turn, "inputs") if is_long else "",
    }


def _text_url(action: Action, turn: Turn, part: str) -> str:
    return reverse("action_text", args=[turn.run_id, turn.number, action.number, part])
