"""Verify a run: is its record whole, and does its policy come to the same turns and end again?"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from pydantic import ValidationError

from agents.contracts import EndReason, Outcome, Usage
from agents.errors import ConfigurationError, ErrorKind, ToolNotFound
from agents.policies import OWN_STEPS
from agents.policies.spec import PolicySpec
from agents.record.replay import replay
from agents.record.tape import Recorded, RecordedCall
from agents.tools.catalogue import TOOLS, toolkit
from agents.tools.json_inputs import JsonInputs
from agents.tools.setup import tool_setup
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit
from chat.artifacts.store import ArtifactLost, ArtifactsAway, content_of
from chat.models import Action, ModelCall, Origin, Run, Turn, TurnStatus
from chat.request import RequestCorrupted
from chat.runs.record.rows import as_stored
from chat.runs.resume import history
from chat.search.recall import find_turns


class Verdict(StrEnum):
    """What came of verifying a run."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNKNOWN = "cannot be replayed"


@dataclass(frozen=True)
class Verified:
    """The verdict on one run, and what was found first where it is not good."""

    run_id: int
    verdict: Verdict
    found: str = ""

    def __str__(self) -> str:
        return f"Run {self.run_id} {self.verdict}" + (f": {self.found}" if self.found else ".")


def verify(run: Run) -> Verified:
    """Look at the record of a run, then replay it without any model or tool."""
    if run.policy_version.policy.origin != Origin.OURS:
        return Verified(run.pk, Verdict.UNKNOWN, f"{run.policy_version} worked elsewhere")
    try:
        return _verified(run)
    except ArtifactLost as lost:
        return Verified(run.pk, Verdict.DIFFERS, str(lost))
    except ArtifactsAway as away:
        return Verified(run.pk, Verdict.UNKNOWN, f"its artifacts are away: {away}")


def _verified(run: Run) -> Verified:
    turns = list(run.turns.order_by("index"))
    try:
        calls = [_without_request(call) for call in ModelCall.objects.with_requests(run)]
    except RequestCorrupted as error:
        return Verified(run.pk, Verdict.DIFFERS, str(error))
    for problem in _problems(run, turns, calls):
        return Verified(run.pk, Verdict.DIFFERS, problem)
    try:
        spec = run.policy_version.spec
        recorded = _recorded(run, turns, calls)
        kit = _tools(run, spec, turns)
        try:
            difference = replay(spec, kit, recorded, as_stored)
        finally:
            kit.close()
    except (ValidationError, ConfigurationError) as error:
        if run.reason == EndReason.CONFIGURATION and not turns:
            return Verified(run.pk, Verdict.AGREES)  # it failed for that very reason
        return Verified(run.pk, Verdict.UNKNOWN, " ".join(str(error).split()))
    if difference is not None:
        return Verified(run.pk, Verdict.DIFFERS, str(difference))
    return Verified(run.pk, Verdict.AGREES)


def _without_request(call: ModelCall) -> ModelCall:
    """Let go of a request whose digest was right; a replay does not look at it."""
    call.request = call.rest = ""
    return call


def _problems(run: Run, turns: list[Turn], calls: list[ModelCall]) -> Iterator[str]:
    """Yield what no run's record may show."""
    if [turn.index for turn in turns] != list(range(len(turns))):
        yield "its turns are not numbered without a gap"
    if any(turn.status != TurnStatus.COMPLETE for turn in turns[:-1]):
        yield "a turn before the last was never completed"
    if not run.is_live and turns and turns[-1].status == TurnStatus.OPEN:
        yield "it has ended, and its last turn is open"
    if any(turn.attempt > run.attempt for turn in turns):
        yield "a turn is of an attempt that never was"
    if not _named(turns) <= _read(run):
        yield "a turn names an artifact that it has not"
    if [call.index for call in calls] != list(range(len(calls))):
        yield "its model calls are not numbered without a gap"
    spent = sum(call.output_tokens or 0 for call in calls)
    if not run.is_live and spent != (run.output_tokens or 0):
        yield f"its calls made {spent} tokens and it says {run.output_tokens}"


def _named(turns: list[Turn]) -> set[str]:
    return {digest for turn in turns for action in turn.actions for digest in action.digests}


def _read(run: Run) -> set[str]:
    """Read every artifact of the run, for its digest; raises ArtifactLost or ArtifactsAway."""
    found = set()
    for artifact in run.artifacts.iterator():
        content_of(artifact.sha256)
        found.add(artifact.sha256)
    return found


def _recorded(run: Run, turns: list[Turn], calls: list[ModelCall]) -> Recorded:
    ended = (
        Outcome.model_validate(
            {
                "status": run.status,
                "reason": run.reason,
                "answer": run.answer,
                "partial": run.partial,
                "message": run.message,
            }
        )
        if not run.is_live
        else None
    )
    return Recorded(
        goal=run.question,
        history=history(run, until=run.started_at),
        turns=[turn.as_contract() for turn in turns],
        calls=[_call(call) for call in calls],
        outcome=ended,
        is_cut=bool(turns) and turns[-1].status != TurnStatus.COMPLETE,
        person=run.person_instructions,
        conversation=run.conversation_instructions,
    )


def _call(call: ModelCall) -> RecordedCall:
    return RecordedCall(
        turn_index=call.turn_index,
        attempt=call.attempt,
        purpose=call.purpose,
        reply=call.reply,
        reasoning=call.reasoning,
        stop_reason=call.stop_reason,
        error=call.error,
        usage=Usage(
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cached_tokens=call.cached_tokens,
            reasoning_tokens=call.reasoning_tokens,
        ),
    )


def _tools(run: Run, spec: PolicySpec, turns: list[Turn]) -> Toolkit:
    """Return the tools as the run knew them, as far as its turns tell.

    One that this machine does not offer, such as an MCP server's, is made up from its calls; one
    that was not there is taken out.
    """
    names = [name for name in spec.tools if name in TOOLS]
    setup = tool_setup(settings.TOOL_ENVIRONMENT)
    conversation = run.conversation
    find = find_turns(conversation.owner, space_id=conversation.space_id)
    found = toolkit(names, find_turns=find, setup=setup)
    called = [action for turn in turns for action in turn.actions if action.tool]
    missing = {action.tool for action in called if action.error == ErrorKind.TOOL_NOT_FOUND}
    kit = Toolkit(tool for tool in found.tools if tool.name not in missing)
    for action in called:
        if action.tool not in missing | OWN_STEPS and not _has(kit, action.tool):
            kit.register(_made_up(action.tool, called))
    return kit


def _has(kit: Toolkit, name: str) -> bool:
    try:
        kit.get(name)
    except ToolNotFound:
        return False
    return True


def _made_up(name: str, called: list[Action]) -> Tool:
    inputs = [action.inputs or {} for action in called if action.tool == name]
    fields: dict[str, dict[str, str]] = {field: {} for one in inputs for field in one}
    always = [field for field in fields if all(field in one for one in inputs)]
    texts = {field: {"type": "string"} for field in always if _is_text(field, inputs)}
    schema = {"type": "object", "properties": fields | texts, "required": always}
    return Tool(name=name, description=name, inputs=JsonInputs(schema), run=_not_run)


def _is_text(field: str, inputs: list[dict[str, object]]) -> bool:
    return all(isinstance(one[field], str) for one in inputs)


def _not_run(**inputs: object) -> str:
    raise NotImplementedError("A replay runs no tool.")
