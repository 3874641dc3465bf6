"""Calls of one turn that only read run at once; all others one after the other."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from agents.contracts import Action, Observation, Thought, ThoughtKind, ToolCall, Turn
from agents.control import Control
from agents.errors import Stopped
from agents.events import ActionStarted, Event, Observed, RunEnded
from agents.loop import run
from agents.model.model import Model
from agents.policies import build
from agents.policies.context import Parts
from agents.policies.spec import Limits, PolicySpec
from agents.providers.scripted import ScriptedProvider
from agents.state import State
from agents.tools.spec import Safety, Tool, tool
from agents.tools.toolkit import Toolkit
from tests.unit.agents.policies.contract.scripts import calls

MEETING_SECONDS = 20


class Meeting:
    """Tools that end only when as many calls of them as are wanted run at the same time."""

    def __init__(self, wanted: int) -> None:
        barrier = threading.Barrier(wanted)

        @tool(reads_only=True)
        def meet(name: str) -> str:
            """Wait for the others."""
            barrier.wait(MEETING_SECONDS)
            return f"met {name}"

        self.tool = meet


def read(name: str, order: list[str], **kind: object) -> Tool:
    """Return a tool that writes down when it runs."""

    def look(text: str) -> str:
        """Look at a text."""
        order.append(f"{name} {text}")
        return f"saw {text}"

    look.__name__ = name
    return tool(**kind)(look)  # type: ignore[arg-type]


def events(
    tools: list[Tool], said: Sequence[object], state: State | None = None
) -> Iterator[Event]:
    control = Control()
    script = [{"say": one} if isinstance(one, str) else one for one in said]
    parts = Parts(
        Model(ScriptedProvider(script), control),  # type: ignore[arg-type]
        Toolkit(tools),
        Limits(max_turns=5),
    )
    return run(build(PolicySpec(policy="native"), parts), state or State("Q?"), control)


def test_calls_that_only_read_are_all_begun_before_one_is_over() -> None:
    three = [("meet", {"name": name}) for name in "abc"]
    told = list(events([Meeting(3).tool], [calls(*three), "done"]))

    begun = [n for n, event in enumerate(told) if isinstance(event, ActionStarted)]
    over = [n for n, event in enumerate(told) if isinstance(event, Observed)]
    assert len(begun) == len(over) == 3
    assert max(begun) < min(over)


def test_each_observation_stands_with_its_own_call_in_whatever_order_it_came() -> None:
    first_is_over = threading.Event()

    @tool(reads_only=True)
    def late() -> str:
        """End last."""
        first_is_over.wait(MEETING_SECONDS)
        return "late"

    @tool(reads_only=True)
    def early() -> str:
        """End first."""
        return "early"

    state, order = State("Q?"), list[int | None]()
    for event in events([late, early], [calls(("late", {}), ("early", {})), "done"], state):
        if isinstance(event, Observed):
            order.append(event.position)
            first_is_over.set()

    assert order == [1, 0]
    assert [seen.text for seen in state.turns[0].observations] == ["late", "early"]


def test_more_calls_than_may_run_at_once_are_all_made() -> None:
    order: list[str] = []
    many = [("look", {"text": str(n)}) for n in range(20)]
    state = State("Q?")
    list(events([read("look", order, reads_only=True)], [calls(*many), "done"], state))

    assert [seen.text for seen in state.turns[0].observations] == [f"saw {n}" for n in range(20)]
    assert len(order) == 20


@pytest.mark.parametrize(
    "other", [{"idempotent": False}, {}, {"reads_only": True, "terminal": True}]
)
def test_calls_of_which_one_does_more_than_read_run_in_their_order(
    other: dict[str, object],
) -> None:
    order: list[str] = []
    tools = [read("look", order, reads_only=True), read("change", order, **other)]
    told = list(events(tools, [calls(("look", {"text": "1"}), ("change", {"text": "2"})), "done"]))

    assert order == ["look 1", "change 2"]
    steps = [type(event) for event in told if isinstance(event, ActionStarted | Observed)]
    assert steps == [ActionStarted, Observed] * 2


def test_one_that_a_person_is_asked_about_keeps_all_in_their_order() -> None:
    order: list[str] = []
    risky = read("risky", order, reads_only=True, safety=Safety.DANGEROUS)
    state = State("Q?")
    two = [("look", {"text": "1"}), ("risky", {"text": "2"})]
    list(events([read("look", order, reads_only=True), risky], [calls(*two), "done"], state))

    assert order == ["look 1"]
    assert [seen.error for seen in state.turns[0].observations] == [None, "NotApproved"]


def test_calls_that_can_only_fail_do_not_hold_up_the_others() -> None:
    two = [("meet", {"name": name}) for name in "ab"]
    state = State("Q?")
    said = [calls(two[0], ("ghost", {}), ("meet", {}), ("meet", "{broken"), two[1]), "done"]
    list(events([Meeting(2).tool], said, state))

    texts = [(seen.error, seen.text) for seen in state.turns[0].observations]
    assert [error for error, _ in texts] == [
        None,
        "ToolNotFound",
        "InvalidInputs",
        "InvalidInputs",
        None,
    ]
    assert (texts[0][1], texts[4][1]) == ("met a", "met b")


def test_a_stop_closes_each_call_that_was_begun_as_interrupted() -> None:
    control, state = Control(), State("Q?")
    begun = threading.Barrier(3)

    @tool(reads_only=True, timeout=60)
    def hang(name: str, control: Control) -> str:
        """Wait until the run is stopped."""
        begun.wait(MEETING_SECONDS)
        control.wait(MEETING_SECONDS)
        return "never"

    two = [{"tool": "hang", "inputs": {"name": name}} for name in "ab"]
    parts = Parts(
        Model(ScriptedProvider([{"say": "", "calls": two}]), control), Toolkit([hang]), Limits()
    )
    told = list[Event]()

    def stop() -> None:
        begun.wait(MEETING_SECONDS)
        control.stop()

    stopper = threading.Thread(target=stop)
    stopper.start()
    for event in run(build(PolicySpec(policy="native"), parts), state, control):
        told.append(event)
    stopper.join()

    assert [seen.error for seen in state.turns[0].observations] == ["Interrupted"] * 2
    assert isinstance(told[-1], RunEnded)
    assert told[-1].outcome.reason == "stopped"


def test_a_run_that_is_gone_on_with_makes_no_call_again_that_is_over() -> None:
    order: list[str] = []
    thought = Thought(
        kind=ThoughtKind.ACTION,
        text="",
        calls=tuple(ToolCall(tool="look", inputs={"text": str(n)}) for n in range(3)),
        kept=tuple({"id": f"c{n}"} for n in range(3)),
    )
    open_turn = Turn(
        index=0,
        thought=thought,
        actions=(
            Action(call=thought.calls[0]),
            Action(call=thought.calls[1], observation=Observation(text="seen before")),
            Action(call=thought.calls[2]),
        ),
    )
    state = State("Q?", turns=[open_turn], is_open=True)
    list(events([read("look", order, reads_only=True)], ["done"], state))

    assert sorted(order) == ["look 0", "look 2"]
    assert [s.text for s in state.turns[0].observations] == ["saw 0", "seen before", "saw 2"]
    assert state.final_answer == "done"


def test_whoever_reads_no_further_stops_what_still_runs() -> None:
    stopped = threading.Event()

    @tool(reads_only=True, timeout=60)
    def hang(name: str, control: Control) -> str:
        """Wait until the call is stopped."""
        try:
            control.wait(MEETING_SECONDS)
        except Stopped:
            stopped.set()
            raise
        return "never"

    told = events([hang], [calls(("hang", {"name": "a"}), ("hang", {"name": "b"}))])
    for event in told:
        if isinstance(event, ActionStarted) and event.position == 1:
            break
    told.close()  # type: ignore[attr-defined]

    assert stopped.wait(MEETING_SECONDS)
