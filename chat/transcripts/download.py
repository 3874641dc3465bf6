"""A transcript to take away, whole: as JSON for programs, as Markdown for people."""

import json
from collections.abc import Iterator
from typing import Any

from chat.models import Approval, ModelCall, Run, Turn
from chat.templatetags.approvals import answer_in_words


def as_json(run: Run) -> str:
    """Return the run with every turn, and every model call with its exact request."""
    content = {
        "run": run.pk,
        "question": run.question,
        "policy": {
            "slug": run.policy_version.policy.slug,
            "version": run.policy_version.number,
            "content": run.policy_version.content,
        },
        "provider": run.provider,
        "model": run.model,
        "status": run.status,
        "reason": run.reason,
        "message": run.message,
        "answer": run.answer,
        "is_partial": run.partial,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "turns": [_turn(turn) for turn in Approval.objects.attach(run.turns.all())],
        "model_calls": [_call(call) for call in ModelCall.objects.with_requests(run)],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def as_markdown(run: Run) -> str:
    """Return the run as a document: question, turns, answer."""
    return "\n\n".join(_paragraphs(run)) + "\n"


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "number": turn.number,
        "kind": turn.kind,
        "status": turn.status,
        "thought": turn.thought,
        "tool": turn.tool or None,
        "inputs": turn.inputs,
        "observation": turn.observation,
        "observation_error": turn.observation_error or None,
        "approval": _approval(turn.approval),
        "started_at": turn.started_at.isoformat(),
        "seconds": turn.seconds,
    }


def _approval(approval: Approval | None) -> dict[str, Any] | None:
    if approval is None:
        return None
    return {
        "status": approval.status,
        "inputs": approval.inputs,
        "feedback": approval.feedback or None,
        "decided_by": str(approval.decided_by) if approval.decided_by else None,
        "asked_at": approval.created_at.isoformat(),
        "decided_at": approval.decided_at.isoformat() if approval.decided_at else None,
    }


def _call(call: ModelCall) -> dict[str, Any]:
    return {
        "turn": call.turn_index + 1,
        "purpose": call.purpose,
        "provider": call.provider,
        "model": call.model,
        "request": call.request,
        "reply": call.reply,
        "reasoning": call.reasoning,
        "stop_reason": call.stop_reason,
        "error": call.error or None,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "started_at": call.started_at.isoformat(),
        "seconds": call.seconds,
    }


def _paragraphs(run: Run) -> Iterator[str]:
    made_by = f"{run.policy_version}, {run.model}" if run.model else str(run.policy_version)
    yield f"# Run {run.pk}"
    yield f"{run.created_at:%d %B %Y %H:%M} UTC, {made_by}: {run.get_status_display()}"
    yield "## Question"
    yield run.question
    for turn in Approval.objects.attach(run.turns.all()):
        yield f"## Turn {turn.number}"
        if turn.thought:
            yield turn.thought
        if turn.tool:
            yield f"Action: `{turn.tool}`"
            yield _fenced(json.dumps(turn.inputs, indent=2, ensure_ascii=False), "json")
        if turn.approval is not None:
            yield f"Approval: {answer_in_words(turn.approval)}"
        if turn.observation is not None:
            yield (
                f"Observation ({turn.observation_error}):"
                if turn.observation_error
                else ("Observation:")
            )
            yield _fenced(turn.observation)
    if run.answer:
        yield "## Answer" if not run.partial else "## Answer (partial)"
        yield run.answer
    if run.message:
        yield f"_{run.message}_"


def _fenced(text: str, language: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
