"""What a terminal tool says is the run's answer, and ends the run."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.contracts import (
    Action,
    EndReason,
    Observation,
    Outcome,
    Status,
    Thought,
    ThoughtKind,
    ToolCall,
    Turn,
)
from agents.control import Control
from agents.errors import ToolFailed
from agents.events import Event
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import Tool, tool
from agents.tools.toolkit import Toolkit


@tool(terminal=True)
def conclude(text: str) -> Iterator[str]:
    """Conclude with a text."""
    yield "It is "
    yield text


@tool(terminal=True)
def fail(text: str) -> str:
    """Fail to conclude."""
    raise ToolFailed(text)


@tool(terminal=True, ends=EndReason.ASKED)
def ask(text: str) -> str:
    """Ask the person."""
    return text


def play(state: State, *said: str, tools: tuple[Tool, ...] = (conclude, fail, ask)) -> list[Event]:
    provider = ScriptedProvider([{"say": text} for text in said])
    parts = Parts(Model(provider, Control()), Toolkit(tools), Limits(max_turns=5))
    return list(run(build(PolicySpec(policy="explicit"), parts), state, Control()))


def call(name: str, text: str) -> str:
    return f"Thought: go\nAction: {name}\nAction Input: {text}\n"


def test_it_ends_the_run_with_its_text_as_the_answer() -> None:
    state = State("Q?")

    play(state, call("conclude", "42"))

    assert state.outcome == Outcome(
        status=Status.SUCCEEDED, reason=EndReason.ANSWERED, answer="It is 42"
    )
    assert len(state.turns) == 1


def test_it_gives_the_reason_that_the_tool_gives() -> None:
    state = State("Q?")

    play(state, call("ask", "Which one?"))

    assert state.outcome is not None
    assert (state.outcome.reason, state.outcome.answer) == (EndReason.ASKED, "Which one?")


def test_a_failure_does_not_end_the_run() -> None:
    state = State("Q?")

    play(state, call("fail", "no"), "Thought: so\nFinal Answer: done")

    assert state.final_answer == "done"
    assert state.turns[0].observations == [Observation(text="no", error="ToolFailed")]


@tool(terminal=True)
def count(text: str) -> int:
    """Count the plums in a text."""
    return text.count("plum")


@tool(terminal=True)
def has_plums(text: str) -> bool:
    """Tell whether there are plums in a text."""
    return "plum" in text


@tool(terminal=True, empty_is_answer=True)
def rest_of(text: str) -> str:
    """Return what is left of a text."""
    return text.removeprefix("pear").strip()


@pytest.mark.parametrize(
    ("ending", "answer"), [(count, "0"), (has_plums, "false"), (rest_of, '""')]
)
def test_zero_false_and_an_empty_text_are_answers_where_the_tool_says_so(
    ending: Tool, answer: str
) -> None:
    state = State("Q?")

    play(state, call(ending.name, "pear"), tools=(ending,))

    assert state.outcome == Outcome(
        status=Status.SUCCEEDED, reason=EndReason.ANSWERED, answer=answer
    )


@pytest.mark.parametrize("text", ["", " \n"])
def test_silence_does_not_end_the_run(observe: Callable[..., Any], text: str) -> None:
    seen = observe(ask, {"text": text})

    assert seen.observation.ends is None


def test_any_other_tool_does_not_end_the_run(observe: Callable[..., Any]) -> None:
    @tool()
    def echo(text: str) -> str:
        """Say it again."""
        return text

    assert observe(echo, {"text": "42"}).observation.ends is None


def test_a_run_whose_end_was_not_recorded_ends_on_replay_without_a_call() -> None:
    call = ToolCall(tool="conclude", inputs={"text": "42"})
    thought = Thought(kind=ThoughtKind.ACTION, text="go", calls=(call,))
    observation = Observation(text="It is 42", ends=EndReason.ANSWERED)
    action = Action(call=call, observation=observation)
    turn = Turn(index=0, thought=thought, actions=(action,))
    state = State("Q?", turns=[turn])

    play(state)

    assert state.outcome is not None
    assert (state.outcome.status, state.final_answer) == (Status.SUCCEEDED, "It is 42")
