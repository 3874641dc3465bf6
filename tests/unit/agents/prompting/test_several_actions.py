"""What a model is told of a turn of several actions: all of them, in their order."""

import json
from collections.abc import Callable

import pytest

from agents.contracts import Action, Observation, Thought, ThoughtKind, Turn
from agents.model.tokens import tokens
from agents.prompting.prompts import enclosed_observation
from agents.prompting.scratchpad import json_scratchpad, scratchpad
from agents.prompting.window import Window
from agents.state import State
from tests.unit.agents.several_actions import DONE, World, call, listed, play

LOOK, BROKEN, SEND = call("look", at="a"), call("broken", text="x"), call("send", to="b")
SAW, FAILED = Observation(text="saw a"), Observation(text="cannot x", error="ToolFailed")
ENDED = State(
    "Q?",
    turns=[
        Turn(
            index=0,
            thought=Thought(kind=ThoughtKind.ACTION, text="three at once"),
            actions=(
                Action(call=LOOK, observation=SAW),
                Action(call=BROKEN, observation=FAILED),
                Action(call=SEND),
            ),
        )
    ],
)
"""A run of one turn whose last action was never made."""


def stand_in_order(told: str, *parts: str) -> bool:
    """Tell whether the parts are in the text once each, one behind the other."""
    places = [told.find(part) for part in parts]
    return -1 not in places and places == sorted(places) and all(told.count(p) == 1 for p in parts)


def test_the_scratchpad_tells_each_action_with_what_came_of_it() -> None:
    assert scratchpad(ENDED, World().toolkit()) == (
        "\nThought: three at once"
        f"\nAction: look\nAction Input: a\nObservation:\n{enclosed_observation(SAW)}"
        f"\nAction: broken\nAction Input: x\nObservation:\n{enclosed_observation(FAILED)}"
        "\nAction: send\nAction Input: b"
        "\nThought: "
    )


def test_the_scratchpad_of_json_tells_each_action_with_what_came_of_it() -> None:
    assert json_scratchpad(ENDED) == (
        "\nThought: three at once"
        '\nAction: {"tool": "look", "inputs": {"at": "a"}}'
        f"\nObservation:\n{enclosed_observation(SAW)}"
        '\nAction: {"tool": "broken", "inputs": {"text": "x"}}'
        f"\nObservation:\n{enclosed_observation(FAILED)}"
        '\nAction: {"tool": "send", "inputs": {"to": "b"}}'
        "\nThought: "
    )


def test_the_transcript_tells_each_action_with_what_came_of_it() -> None:
    assert ENDED.transcript().splitlines() == [
        "Goal: Q?",
        "ACTION: three at once",
        "ACTION_EXECUTED: tool_id=look",
        "OBSERVATION: saw a",
        "ACTION_EXECUTED: tool_id=broken",
        "OBSERVATION: ERROR: ToolFailed: cannot x",
        "ACTION_EXECUTED: tool_id=send",
    ]


def test_the_next_request_tells_them_in_their_order() -> None:
    played = play(listed(LOOK, SEND, BROKEN), DONE)

    told = json.dumps(json.loads(played.requests[1]))
    assert stand_in_order(told, "saw a", "sent b", "cannot x")


def test_the_window_tells_them_all_in_their_order() -> None:
    assert stand_in_order(
        Window(4_000).told(ENDED.turns),
        *('{"tool": "look", "parameters": {"at": "a"}}', "saw a"),
        *('{"tool": "broken", "parameters": {"text": "x"}}', "ERROR: ToolFailed: cannot x"),
        '{"tool": "send", "parameters": {"to": "b"}}',
    )


def many(turns: int, actions: int, seen: Callable[[int, int], str]) -> list[Turn]:
    return [
        Turn(
            index=index,
            thought=Thought(kind=ThoughtKind.ACTION, text=f"thought {index}"),
            actions=tuple(
                Action(call=call("look", at=n), observation=Observation(text=seen(index, n)))
                for n in range(actions)
            ),
        )
        for index in range(turns)
    ]


@pytest.mark.parametrize("actions", [2, 5, 20])
@pytest.mark.parametrize("turns", [1, 10, 100])
def test_turns_of_several_fit_into_the_budget(turns: int, actions: int) -> None:
    told = Window(8_000).told(many(turns, actions, lambda index, n: "x" * 20_000))

    assert tokens(told) < 9_000


def test_an_old_turn_is_told_in_a_line_for_each_action() -> None:
    told = Window(3_000).told(many(12, 3, lambda index, n: f"seen {index}-{n} " + "x " * 1_000))

    shortest = next(
        step for step in told.split("\n\n") if "Thought: " not in step and "Step" in step
    )
    title, *lines = shortest.splitlines()
    number = int(title.removeprefix("Step ")) - 1
    assert [line[: len("look: seen 0-0 x")] for line in lines] == [
        f"look: seen {number}-{n} x" for n in range(3)
    ]
