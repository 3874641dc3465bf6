"""Requests are cut where other requests of their run have the same text, whatever the policy."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import contracts
from agents.control import Control
from agents.events import ModelCalled
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.prompting.prompts import enclosed
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import tool
from agents.tools.toolkit import Toolkit
from chat.models import ModelCall, Run
from chat.runs.record.pieces import MANY, pieces_of, shared_length
from chat.runs.record.requests import CallLog

TURNS = 60
MOST_OF_A_PLAN = 50
ENDS = st.sampled_from(['"}]', '\\"},', '</observation id=\\"0123456789ab\\">', "x" * 300])


def body(*contents: str) -> str:
    messages = [{"role": "user", "content": content} for content in contents]
    return json.dumps({"model": "m", "messages": messages}, ensure_ascii=False)


def told(turn: int) -> str:
    """Tell of a turn as a scratchpad does."""
    return f"\nThought: {turn}\nObservation:\n{enclosed('observation', f'It is {turn}.')}"


def cut(text: str, known: tuple[str, ...] = (), shared: int = 0) -> list[str]:
    return pieces_of(text, 0, shared, known.__contains__)


@given(st.lists(st.text() | ENDS).map("".join), st.integers(0, 500), st.integers(0, 2_000))
def test_the_pieces_are_the_request_to_the_letter(text: str, start: int, shared: int) -> None:
    start = min(start, len(text))
    known = set(cut(text)[::2]).__contains__
    pieces = pieces_of(text, start, min(shared, len(text)), known)
    assert "".join(pieces) == text[start:]
    assert all(pieces)


def test_a_turn_is_the_same_piece_wherever_it_is_told() -> None:
    first = cut(body("rules", "Q?" + told(1) + told(2)))
    later = cut(body("other rules", "Something else." + told(0) + told(1) + told(2) + "And now?"))
    assert first[-2] in later
    assert json.dumps(told(2))[1:-1] == first[-2]


def test_what_ends_a_request_is_a_piece_of_its_own() -> None:
    assert cut(body("rules", "Q?"))[-1] == cut(body("rules", "Q?" + told(1)))[-1] == '"}]}'


def test_what_only_looks_like_the_end_of_a_message_is_not_cut() -> None:
    text = body('He wrote {"a": "b"}, and left.')
    assert cut(text) == [text[:-4], '"}]}']


def test_a_text_without_marks_is_cut_where_the_last_request_ended() -> None:
    before, after = body("a" * 300), body("a" * 300 + "b" * 300)
    shared = shared_length(before, after)
    assert cut(after, shared=shared) == [after[:shared], "b" * 300, '"}]}']


def test_what_can_be_had_again_for_little_is_not_cut() -> None:
    before, after = body("a" * 30), body("a" * 30 + "b" * 300)
    assert len(cut(after, shared=shared_length(before, after))) == 2


def test_many_new_pieces_are_joined_and_known_ones_are_kept() -> None:
    text = body("".join(told(turn) for turn in range(2 * MANY)))
    known = json.dumps(told(MANY))[1:-1]
    before, after = text.split(known)
    assert cut(text, (known,)) == [before, known, after[:-4], '"}]}']


@tool()
def look(topic: str) -> str:
    """Look a topic up in the archive."""
    return f"{topic} is in the archive. ".ljust(600, "o")


def thoughts() -> Iterator[str]:
    return (f"I look at topic {turn}, which nobody has seen so far." for turn in range(TURNS))


def in_text() -> list[str]:
    said = [
        f'{thought}\nAction: look\nAction Input: {{"topic": "topic {turn}"}}'
        for turn, thought in enumerate(thoughts())
    ]
    return [*said, "Enough.\nFinal Answer: Done."]


def by_nodes() -> list[str]:
    said = []
    for turn, thought in enumerate(thoughts()):
        said += [json.dumps({"kind": "ACTION", "text": thought}), "look"]
        said.append(json.dumps({"topic": f"topic {turn}"}))
    return [*said, json.dumps({"kind": "FINAL", "text": "Done."})]


def in_one_plan() -> list[str]:
    calls = [{"toolName": "look", "arguments": {"topic": f"topic {n}"}} for n in range(TURNS)]
    return [f"Intent: i\nPlan: p\nTool Calls:\n```json\n{json.dumps(calls)}\n```", "Done."]


def in_steps() -> list[str]:
    goals = [{"description": "look", "success_criteria": "seen"}]
    said = [json.dumps({"phases": [{"name": "p", "goals": goals}]})]
    for turn, thought in enumerate(thoughts()):
        action = {"tool": "look", "parameters": {"topic": f"topic {turn}"}}
        said.append(json.dumps({"thought": thought, "action": action}))
    done = {"tool": "complete", "parameters": {"result": "Done."}}
    return [*said, json.dumps({"thought": "Enough.", "action": done})]


def in_tries() -> list[str]:
    said = in_text()
    return [*said[:30], "Too slow; I look at less.", *said[30:]]


def with_named_results() -> list[str]:
    lines = [f"Plan: look\n#E{n} = look[topic {n}]" for n in range(1, MOST_OF_A_PLAN)]
    lines.append(f"Plan: say\n#E{MOST_OF_A_PLAN} = LLM[Say #E1 of #E2]")
    return ["\n".join(lines), "It is so.", "Done."]


def as_json() -> list[str]:
    said = []
    for turn, thought in enumerate(thoughts()):
        inputs = {"topc": 1} if turn % 5 == 4 else {"topic": f"topic {turn}"}
        said.append(f"{thought}\nAction: {json.dumps({'tool': 'look', 'inputs': inputs})}")
    return [*said, "Enough, I think.", "Done.", "Done."]


SCRIPTS: dict[str, Callable[[], list[str]]] = {
    "explicit": in_text,
    "implicit": by_nodes,
    "plan_execute": in_one_plan,
    "planned": in_steps,
    "reflexion": in_tries,
    "rewoo": with_named_results,
    "self_repair": as_json,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "planned": {"planning": "always", "exempt_tools": ["look"]},
    "reflexion": {"turns_per_try": 30},
    "self_repair": {"backoff_seconds": 0},
}


def calls_of(policy: str) -> list[contracts.ModelCall]:
    """Let a policy work for sixty turns and return its calls."""
    control = Control()
    said = [{"say": text} for text in SCRIPTS[policy]()]
    limits = Limits(max_turns=TURNS + 5)
    parts = Parts(Model(ScriptedProvider(said, 0), control), Toolkit([look]), limits)
    spec = PolicySpec(policy=policy, settings=SETTINGS.get(policy, {}))
    state = State("What do the topics come to?")
    events = run(build(spec, parts), state, control)
    calls = [event.call for event in events if isinstance(event, ModelCalled)]
    assert len(state.turns) >= (MOST_OF_A_PLAN if policy == "rewoo" else TURNS)
    return calls


def in_the_older_form(calls: list[contracts.ModelCall]) -> int:
    """Return how many characters differ from the last request of the same purpose."""
    last: dict[str, str] = {}
    stored = 0
    for call in calls:
        stored += len(call.request) - shared_length(last.get(call.purpose, ""), call.request)
        last[call.purpose] = call.request
    return stored


def stored_of(row: ModelCall) -> int:
    return len(json.dumps(row.pieces)) + sum(map(len, row.brings.values()))


@pytest.mark.parametrize("policy", SCRIPTS)
def test_the_requests_of_a_policy_take_little_more_than_what_is_new_in_them(policy: str) -> None:
    calls = calls_of(policy)
    log = CallLog(Run(pk=1, attempt=1), 0)

    stored = sum(stored_of(log.row(call, 0)) for call in calls)

    assert stored < 1.15 * in_the_older_form(calls)
    assert stored < 5 * max(len(call.request) for call in calls)
