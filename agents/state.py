"""What a run knows: its goal and its turns, folded from events, so that it can be replayed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.contracts import EndReason, Exchange, Observation, Outcome, ThoughtKind, Turn
from agents.events import (
    ActionsProposed,
    ActionStarted,
    AnswerDelta,
    Event,
    ObservationDelta,
    Observed,
    RunEnded,
    ThoughtCompleted,
    ThoughtDelta,
    TurnCompleted,
    TurnStarted,
)

REMEMBERED = 5
"""How many earlier exchanges of a conversation a policy is told of."""


class Excerpt(Observation):
    """An observation of which a model is `told` less than all; `text` is whole."""

    told: str


@dataclass
class Draft:
    """What has been said of parts that are not complete yet, so that a halt loses none of it.

    `outputs` are those of the actions that were begun here and are not observed, by position.
    """

    thought: list[str] = field(default_factory=list)
    outputs: dict[int, list[str]] = field(default_factory=dict)
    answer: list[str] = field(default_factory=list)

    def apply(self, event: Event, open_at: int) -> None:
        """Keep the text of a delta; `open_at` is the place of the turn's open action."""
        match event:
            case ThoughtDelta(text=text):
                self.thought.append(text)
            case AnswerDelta(text=text):
                self.answer.append(text)
            case ActionsProposed():
                self.answer = []
            case ActionStarted(position=position):
                self.outputs.setdefault(_place(position, open_at), [])
            case ObservationDelta(text=text, position=position):
                self.outputs.setdefault(_place(position, open_at), []).append(text)
            case Observed(position=position):
                self.outputs.pop(_place(position, open_at), None)

    def copy(self) -> "Draft":
        """Return the same, to be gone on with elsewhere."""
        outputs = {position: [*texts] for position, texts in self.outputs.items()}
        return Draft([*self.thought], outputs, [*self.answer])

    def output(self, position: int | None) -> str:
        """Return what the tool of an action has put out so far."""
        return "".join(self.outputs.get(position or 0, ()))


@dataclass
class State:
    """The goal, the earlier exchanges of the conversation, and the turns so far.

    Only the loop changes it; components read. A stored run is replayed by passing its turns, with
    `is_open` if the last of them was never completed. Its open action may then have begun, unless
    `may_have_begun` is False; what is proposed or done since has not, before it is started.
    """

    goal: str
    history: Sequence[Exchange] = ()
    turns: list[Turn] = field(default_factory=list)
    is_open: bool = False
    may_have_begun: bool = True
    halted: EndReason | None = None
    outcome: Outcome | None = None
    draft: Draft = field(default_factory=Draft)

    @property
    def is_complete(self) -> bool:
        """Tell whether the run has ended."""
        return self.outcome is not None

    @property
    def final_answer(self) -> str:
        """Return the answer, empty while there is none."""
        if self.outcome is not None:
            return self.outcome.answer
        last = self.turns[-1] if self.turns else None
        if last is None:
            return ""
        if (end := last.end) is not None:
            return end.text
        thought = last.thought
        return thought.answer if thought is not None and thought.kind is ThoughtKind.FINAL else ""

    def apply(self, event: Event) -> None:
        """Fold one event into the state."""
        self.draft.apply(event, (self.turns[-1].position or 0) if self.turns else 0)
        match event:
            case TurnStarted(index=index):
                self.turns.append(Turn(index=index))
                self.is_open, self.draft = True, Draft()
            case ThoughtCompleted(node=node):
                self.turns[-1] = self.turns[-1].model_copy(update={"thought": node})
            case ActionsProposed(calls=calls):
                self.turns[-1] = self.turns[-1].with_calls(calls)
                self.may_have_begun = False
            case ActionStarted():
                self.may_have_begun = True
            case Observed(observation=observation, position=position):
                self.turns[-1] = self.turns[-1].with_observation(observation, position)
                self.may_have_begun = self.turns[-1].position in self.draft.outputs
            case TurnCompleted():
                self.is_open = False
            case RunEnded(outcome=outcome):
                self.outcome = outcome

    def transcript(self, told: Callable[[Observation], str] | None = None) -> str:
        """Write the run as the lines that the implicit policy reasons over.

        `told` writes an observation, after its label; plainly and behind a space by itself.
        """
        told = told or (lambda seen: f" {observed(seen)}")
        lines = [f"Goal: {self.goal}"]
        for turn in self.turns:
            if turn.thought is not None:
                text = turn.thought.answer or turn.thought.text
                lines.append(f"{turn.thought.kind.upper()}: {text}")
            for action in turn.actions:
                if action.call is not None:
                    lines.append(f"ACTION_EXECUTED: tool_id={action.call.tool}")
                if action.observation is not None:
                    lines.append(f"OBSERVATION:{told(action.observation)}")
        return "\n".join(lines)


def _place(position: int | None, open_at: int) -> int:
    return open_at if position is None else position


def observed(observation: Observation) -> str:
    """Write an observation as a model reads it; a failure says so and names its kind."""
    text = observation.told if isinstance(observation, Excerpt) else observation.text
    return text if observation.error is None else f"ERROR: {observation.error}: {text}"
