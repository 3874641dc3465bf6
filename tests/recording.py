"""Turns that a recorder writes of what tools gave, for tests that need no policy."""

from agents.contracts import Action, Observation, Thought, ThoughtKind, ToolCall, Turn
from agents.control import Control
from agents.events import (
    ActionsProposed,
    ActionStarted,
    Observed,
    ThoughtCompleted,
    TurnCompleted,
    TurnStarted,
)
from chat.models import Run
from chat.runs.record.recorder import Recorder
from tests.integration.here import here


def recorder_of(run: Run) -> Recorder:
    """Return the recorder of a claimed run."""
    control = Control()
    return Recorder(run, here().publisher.open(run.pk, run.attempt, control), control, [], 0)


def observe(recorder: Recorder, index: int, *observations: Observation) -> Turn:
    """Record a complete turn with an action for each observation, and return what was told."""
    calls = tuple(ToolCall(tool="look", inputs={"at": n}) for n, _ in enumerate(observations))
    thought = Thought(kind=ThoughtKind.ACTION, text="I look.", calls=calls)
    recorder.record(TurnStarted(index=index))
    recorder.record(ThoughtCompleted(node=thought))
    recorder.record(ActionsProposed(calls=calls))
    for observation in observations:
        recorder.record(ActionStarted())
        recorder.record(Observed(observation=observation))
    done = zip(calls, observations, strict=True)
    actions = tuple(Action(call=call, observation=observation) for call, observation in done)
    turn = Turn(index=index, thought=thought, actions=actions)
    recorder.record(TurnCompleted(turn=turn))
    return turn
