"""A transcript to take away, whole: as JSON for programs, as Markdown for people.

The JSON holds requests as they are stored, each as a list of pieces that stand in it once; written
out, a run would grow with the square of its turns. docs/transcripts.md says its form.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from chat.models import Action, Approval, ModelCall, Piece, Run, Turn
from chat.request import Range
from chat.runs.resume import history
from chat.runs.words import approval_in_words, message_in_words
from chat.transcripts.costs import Costs
from chat.transcripts.portions import Row, in_portions

FORM = "turnstone-run/3"
NOT_WHOLE = "\n\n_The rest could not be read._\n"
"""How a Markdown document ends that broke off; JSON then lacks its closing brackets."""


def as_json(run: Run) -> Iterator[str]:
    """Yield the text of one JSON object: the run, then a line for each turn and model call."""
    costs = Costs(run)
    head = json.dumps(_head(run, costs), indent=2, ensure_ascii=False)
    yield head.removesuffix("\n}")
    yield from _listed("turns", map(_turn, _turns(run)))
    calls = ModelCall.objects.so_far(run).annotate(base_index=F("base__index"))
    yield from _listed("pieces", map(_piece, _rows(run.pieces.all(), "digest")))
    yield from _listed("model_calls", (_call(row, costs) for row in _rows(calls, "index")))
    Run.objects.only("pk").get(pk=run.pk)  # one that was deleted meanwhile is not whole
    yield "\n}\n"


def as_markdown(run: Run) -> Iterator[str]:
    """Yield the run as a document: question, turns, answer."""
    for number, paragraph in enumerate(_paragraphs(run)):
        yield f"\n\n{paragraph}" if number else paragraph
    Run.objects.only("pk").get(pk=run.pk)
    yield "\n"


def _turns(run: Run) -> Iterator[Turn]:
    for portion in in_portions(run.turns.all()):
        yield from Approval.objects.attach(portion)


def _rows(rows: "QuerySet[Row]", by: str) -> Iterator[Row]:
    return (row for portion in in_portions(rows, by) for row in portion)


def _listed(name: str, values: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield f',\n  "{name}": ['
    for number, value in enumerate(values):
        line = json.dumps(value, ensure_ascii=False)
        yield f",\n    {line}" if number else f"\n    {line}"
    yield "\n  ]"


def _head(run: Run, costs: Costs) -> dict[str, Any]:
    return {
        "form": FORM,
        "run": run.pk,
        "conversation": run.conversation_id,
        "owner": run.owner.get_username(),
        "parent": run.parent_id,
        "again_of": run.again_of_id,
        "history": [
            said.model_dump(exclude_none=True) for said in history(run, until=run.started_at)
        ],
        "question": run.question,
        "instructions": {
            "person": run.person_instructions,
            "conversation": run.conversation_instructions,
        },
        "policy": {
            "slug": run.policy_version.policy.slug,
            "origin": run.policy_version.policy.origin,
            "version": run.policy_version.number,
            "content": run.policy_version.content,
            "made_of": run.policy_version.made_of,
        },
        "build": run.build,
        "provider": run.provider,
        "model": run.model,
        "status": run.status,
        "reason": run.reason,
        "message": run.message,
        "answer": run.answer,
        "is_partial": run.partial,
        "attempt": run.attempt,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "cost": costs.of_run(),
        "seconds": run.seconds,
        "told_at": _moment(run.told_at),
        "created_at": run.created_at.isoformat(),
        "started_at": _moment(run.started_at),
        "ended_at": _moment(run.ended_at),
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "number": turn.number,
        "attempt": turn.attempt,
        "kind": turn.kind,
        "status": turn.status,
        "thought": turn.thought,
        "answer": turn.answer,
        "plan": turn.plan,
        "kept": turn.kept,
        "actions": [_action(action) for action in turn.actions],
        "started_at": _moment(turn.started_at),
        "ended_at": _moment(turn.ended_at),
        "seconds": turn.seconds,
    }


def _action(action: Action) -> dict[str, Any]:
    return {
        "tool": action.tool or None,
        "inputs": action.inputs,
        "observation": None if action.observation is None else action.text,
        "error": action.error or None,
        "ends": action.ends or None,
        "pictures": _pictures(action),
        "approval": _approval(action.approval),
        "started_at": _moment(action.started_at),
        "ended_at": _moment(action.ended_at),
        "seconds": action.seconds,
    }


def _pictures(action: Action) -> list[dict[str, Any]]:
    if not any("sha256" in image for image in action.images or ()):
        return action.images or []
    return [picture.model_dump() for picture in action.pictures]


def _approval(approval: Approval | None) -> dict[str, Any] | None:
    if approval is None:
        return None
    return {
        "status": approval.status,
        "safety": approval.safety,
        "inputs": approval.inputs,
        "feedback": approval.feedback or None,
        "decided_by": str(approval.decided_by) if approval.decided_by else None,
        "asked_at": approval.created_at.isoformat(),
        "expires_at": approval.expires_at.isoformat(),
        "decided_at": _moment(approval.decided_at),
    }


def _piece(piece: Piece) -> dict[str, Any]:
    return {
        "id": piece.digest.hex,
        "text": piece.text,
        "redacted_at": _moment(piece.redacted_at),
    }


def _call(call: ModelCall, costs: Costs) -> dict[str, Any]:
    return {
        "number": call.index + 1,
        "turn": call.turn_index + 1,
        "attempt": call.attempt,
        "purpose": call.purpose,
        "provider": call.provider,
        "model": call.model,
        "request": _request(call) | {"sha256": call.digest},
        "reply": call.reply,
        "reasoning": call.reasoning,
        "stop_reason": call.stop_reason,
        "error": call.error or None,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cached_tokens": call.cached_tokens,
        "reasoning_tokens": call.reasoning_tokens,
        "cost": costs.of(call),
        "started_at": _moment(call.started_at),
        "first_token_seconds": call.first_token_seconds,
        "seconds": call.seconds,
    }


def _request(call: ModelCall) -> dict[str, Any]:
    if call.pieces is not None:
        return {"pieces": [_entry(entry) for entry in call.pieces]}
    base = getattr(call, "base_index", None)
    return {
        "base": None if base is None else base + 1,
        "shared": call.shared,
        "rest": call.rest,
    }


def _entry(entry: str | Range) -> str | dict[str, int]:
    if isinstance(entry, str):
        return entry
    index, start, end = entry
    return {"call": index + 1, "from": start, "to": end}


def _paragraphs(run: Run) -> Iterator[str]:
    made_by = f"{run.policy_version}, {run.model}" if run.model else str(run.policy_version)
    yield f"# Run {run.pk}"
    yield f"{run.created_at:%d %B %Y %H:%M} UTC, {made_by}: {run.get_status_display()}"
    yield "## Question"
    yield run.question
    for turn in _turns(run):
        yield from _paragraphs_of(turn)
    if run.answer:
        yield "## Answer" if not run.partial else "## Answer (partial)"
        yield run.answer
    if message := message_in_words(run, run.owner.get_username()):
        yield f"_{message}_"


def _paragraphs_of(turn: Turn) -> Iterator[str]:
    yield f"## Turn {turn.number}"
    if turn.thought:
        yield turn.thought
    for action in turn.actions:
        yield from _paragraphs_of_action(action)


def _paragraphs_of_action(action: Action) -> Iterator[str]:
    if action.tool:
        yield f"Action: `{action.tool}`"
        yield _fenced(json.dumps(action.inputs, indent=2, ensure_ascii=False), "json")
    if action.approval is not None:
        yield f"Approval: {approval_in_words(action.approval)}"
    if action.observation is not None:
        error = f" ({action.error})" if action.error else ""
        yield f"Observation{error}:"
        yield _fenced(action.text)


def _fenced(text: str, language: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _moment(value: datetime | None) -> str | None:
    return value.isoformat() if value else None
