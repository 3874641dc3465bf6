"""What `self_repair` does about slips: pruning, bounded repair, pauses, retries, extras."""

from typing import Any

from pydantic import ConfigDict, create_model

from agents.errors import ToolFailed
from agents.tools.attachments import Extras, Handed
from agents.tools.spec import Tool, tool
from tests.conformance.repair_stage import ANSWER, Case, act, failing, play

UNREADABLE = 'so\nAction: {"tool": [1], "inputs": {}}'
REPAIRED_INSTEAD = (
    "with pruning off, an input that the tool does not know is refused and repaired; upstream "
    "passed it on to the tool"
)


def check_pruning(case: Case) -> str | None:
    """Call a tool with more inputs than it knows."""
    asked, expected = case["input"], case["expected"]
    seen: list[dict[str, Any]] = []

    def take(**inputs: Any) -> str:
        seen.append(inputs)
        return "ok"

    fields: dict[str, Any] = dict.fromkeys(asked["spec_keys"], (Any, ...))
    inputs = create_model("take", __config__=ConfigDict(extra="forbid"), **fields)
    taker = Tool(name="take", description="Take inputs.", inputs=inputs, run=take)
    known = {name: asked["inputs"].get(name, 1) for name in asked["spec_keys"]}
    prunes = asked["allow_input_pruning"]
    played = play(
        [act("take", asked["inputs"]), *([] if prunes else [act("take", known)]), ANSWER],
        [taker],
        prune_inputs=prunes,
    )
    was_repaired = any(call.purpose == "repair" for call in played.calls)
    if not prunes and not expected.get("llm_repair_called", True):
        assert was_repaired
        return REPAIRED_INSTEAD
    assert was_repaired == expected.get("llm_repair_called", was_repaired), played.calls
    if "executed_inputs" in expected and prunes:
        assert seen == [expected["executed_inputs"]], seen
    return None


def check_parse_retries(case: Case) -> str | None:
    """Count the repairs of one step that stays unreadable."""
    retries, wanted = case["input"]["max_parse_retries"], case["expected"]["repair_attempts"]
    script = [UNREADABLE] * (retries + 1) + [ANSWER]
    played = play(script, max_parse_retries=retries, backoff_seconds=0)
    assert played.repairs == wanted, f"{played.repairs} repairs, expected {wanted}"
    assert played.outcome.answer == "done"
    return None


def check_backoff(case: Case) -> str | None:
    """Gather the pauses before the retries of a tool that fails."""
    asked, wanted = case["input"], case["expected"]["sleeps_linear"]
    retries = asked["retries"]
    played = play(
        [act("fail")] * (retries + 1) + [ANSWER],
        [failing(retries + 1)],
        backoff_seconds=asked["backoff_sec"],
        max_tool_errors=retries,
    )
    pauses = [round(seconds, 6) for seconds in played.control.pauses]
    assert pauses == [round(seconds, 6) for seconds in wanted], pauses
    return None


def check_tool_errors(case: Case) -> str | None:
    """Run a tool that fails as often as the case says."""
    asked, expected = case["input"], case["expected"]
    allowed, said = asked["max_tool_errors"], str(asked["tool"])
    counted = {"once": 1, "twice": 2}
    times = next((n for word, n in counted.items() if word in said), allowed + 1)
    fail = failing(times)
    script = [act("fail")] * (allowed + 1) + [ANSWER]
    played = play(script, [fail], max_tool_errors=allowed, backoff_seconds=0)
    tries = [turn for turn in played.state.turns if turn.calls]
    if times > allowed:
        assert len(tries) == expected.get("executions", len(tries)), len(tries)
        wanted = str(expected.get("observation", "")).replace("<name>", "fail")
        assert played.observations[allowed] == (wanted or played.observations[allowed])
    assert played.outcome.answer == "done", "a failed tool must not end the run"
    return None


def check_extras(case: Case) -> str | None:
    """Hand a rich object to the next call that succeeds, and see it nowhere else."""
    expected, asked = case["expected"], case["input"]
    extras = dict(asked["extras"]) if isinstance(asked, dict) and "extras" in asked else {"k": 1}
    given = dict(asked.get("action_inputs", {})) if isinstance(asked, dict) else {}
    rich = object()
    seen: list[dict[str, Any]] = []
    fails = "raises" in str(asked)

    @tool()
    def hand() -> Handed:
        """Hand something on."""
        return Handed("handed", {**extras, "rich": rich})

    def take(extras: Extras, **inputs: Any) -> str:
        seen.append({**extras, **inputs})
        if fails and len(seen) == 1:
            raise ToolFailed("boom")
        return "taken"

    fields: dict[str, Any] = dict.fromkeys({**extras, **given}, (Any, None))
    inputs = create_model("take", __config__=ConfigDict(extra="forbid"), **fields)
    taker = Tool(name="take", description="Take.", inputs=inputs, run=take, wants_extras=True)
    script = [act("hand"), *[act("take", given)] * (3 if fails else 2), ANSWER]
    played = play(script, [hand, taker], backoff_seconds=0)

    *with_extras, after = seen
    assert all(call["rich"] is rich for call in with_extras), seen
    assert "rich" not in after, "extras must reach only one successful call"
    for name, value in expected.get("tool_receives", {}).items():
        assert with_extras[0][name] == value, with_extras
    assert len(with_extras) == (2 if fails else 1), seen
    told = "".join(event.model_dump_json() for event in played.events)
    assert "object object" not in told, "extras must be in no event and no prompt"
    return None


AREAS = {
    "input pruning": check_pruning,
    "max_parse_retries": check_parse_retries,
    "backoff": check_backoff,
    "tool errors": check_tool_errors,
    "extras memory": check_extras,
}
