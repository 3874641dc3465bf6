"""The recorder of one attempt: it alone writes turns and model calls.

A turn is stored when its actions are known and before the first tool runs, what came back of an
action before the next one begins, and a turn complete before the page sees it complete. Every write
carries the attempt's fence, so that a worker that lost its run changes nothing.
"""

from collections.abc import Collection, Sequence
from functools import partial

from agents import contracts, events
from agents.contracts import Observation, Outcome, Purpose, Thought, ThoughtKind
from agents.control import Control
from agents.errors import ErrorKind
from agents.policies.spec import ModelRole
from agents.text import storable
from chat.metrics.instruments import count_call, count_end, count_first_text, count_turn
from chat.models import Action, ModelCall, Run, Turn, TurnStatus
from chat.runs.db_retry import retrying
from chat.runs.ending import end_held
from chat.runs.record.artifacts import set_apart
from chat.runs.record.requests import CallLog
from chat.runs.record.rows import set_calls, set_observation, set_thought
from chat.runs.record.statements import store, store_model
from chat.runs.record.turn_events import TurnEvents
from chat.stream import frames
from chat.stream.channel import Channel
from chat.stream.server_events import (
    ActionStarted,
    ObservationDelta,
    RunStarted,
)


class Recorder:
    """Write what a run tells, and pass it on to the people who watch.

    `turns` are those that earlier attempts stored; the last of them may be open. In `roles` other
    models are asked than the run's own.
    """

    def __init__(
        self,
        run: Run,
        channel: Channel,
        control: Control,
        turns: Sequence[Turn],
        calls: int,
        *,
        roles: Collection[ModelRole] = (),
    ) -> None:
        self._run = run
        self._channel = channel
        self._control = control
        self._roles = roles
        self._calls = CallLog(run, calls)
        self._events = TurnEvents(run, turns)
        self._call: ModelCall | None = None
        self._observed: list[Action] = []
        self._count = len(turns)
        is_open = bool(turns) and turns[-1].status == TurnStatus.OPEN
        self._turn: Turn | None = turns[-1] if is_open else None
        # Whether the open action may have begun that an earlier worker had, or this one proposed.
        self._is_under_way = is_open
        self._outputs: dict[int, list[str]] = {}
        self._thought: list[str] = []
        self._answer: list[str] = []
        self._is_silent = run.attempt == 1

    def begin(self) -> None:
        """Say that the attempt has begun."""
        self._channel.put(RunStarted(type="run.started", attempt=self._run.attempt))

    def record(self, event: events.Event) -> None:
        """Write and publish one event; raises LeaseLost when the run has gone on elsewhere."""
        if not isinstance(event, _WITH_CALLS):
            self.flush()
        match event:
            case events.ThoughtDelta(text=text):
                text, index = self._kept(self._thought, text), self._open_turn().index
                self._channel.put({"type": "thought.delta", "index": index, "text": text})
            case events.AnswerDelta(text=text):
                text = self._kept(self._answer, text)
                self._channel.put({"type": "answer.delta", "text": text})
            case events.ObservationDelta(text=text, position=position):
                self._show_output(text, position)
            case events.ModelCalled(call=call):
                self._store_call(call)
            case events.RunEnded(outcome=outcome):
                self.end(outcome)
            case _:
                self._step(event)

    def flush(self) -> None:
        """Write what waits for the next event; raises LeaseLost."""
        if self._call is not None:
            self._write()

    def end(self, outcome: Outcome) -> None:
        """Write how the run ended, with what it had when it was cut off, and tell so."""
        said = storable(outcome.answer) or "".join(self._answer)
        shown = {"answer": said, "partial": outcome.partial or not outcome.answer}
        reserved = self._channel.reserve()
        html = end_held(
            self._run,
            outcome.model_copy(update=shown),
            reserved,
            self._call,
            self._cut_off_turn(),
            self._changed(),
            self._control,
        )
        count_end(self._run)
        event = frames.run_ended(self._run.status, self._run.reason, html)
        self._channel.put_reserved(reserved, event, ends=True)
        self._channel.close()

    def _step(self, event: events.Event) -> None:
        match event:
            case events.TurnStarted(index=index):
                self._start_turn(index)
            case events.ThoughtCompleted(node=node):
                self._thought_completed(node)
            case events.ActionsProposed(calls=calls):
                self._propose(calls)
            case events.ActionStarted(position=position):
                self._start_action(position)
            case events.Observed(observation=observation, position=position):
                self._observe(observation, position)
            case events.TurnCompleted():
                self._complete()

    def _start_turn(self, index: int) -> None:
        self._turn = Turn(
            run=self._run,
            index=index,
            attempt=self._run.attempt,
            kind=ThoughtKind.THOUGHT,
            started_at=self._run.clock.now(),
        )
        self._turn.actions = []
        self._count = index + 1
        for texts in (self._thought, self._outputs, self._answer):
            texts.clear()
        self._channel.put(self._events.of("turn.started", self._turn))

    def _kept(self, texts: list[str], text: str) -> str:
        """Keep what was said with what it goes on from, and return it as it is shown."""
        text = storable(text)
        texts.append(text)
        if self._is_silent:
            self._is_silent = False
            count_first_text(self._run)
        return text

    def _store_call(self, call: contracts.ModelCall) -> None:
        turn_index = self._count if self._turn is None else self._turn.index
        if not call.error and ModelRole.of(call.purpose) not in self._roles:
            self._name_answerer(call.provider[:40], storable(call.model)[:200])
        self._call = self._calls.row(call, turn_index)
        # A thought's turn comes in a moment and is stored with it, at half the cost; any other
        # call may be followed by a long wait.
        if call.purpose != Purpose.THINK or call.error:
            self.flush()
        count_call(call)

    def _name_answerer(self, provider: str, model: str) -> None:
        """Say of the run that a second answers it, once the first did not."""
        run = self._run
        if provider == run.provider:
            return
        run.instead_of = run.instead_of or run.provider
        run.provider, run.model = provider, model
        said = {"provider": provider, "model": model, "instead_of": run.instead_of}
        retrying(lambda: store_model(run, **said), self._control, in_one_statement=True)

    def _thought_completed(self, node: Thought) -> None:
        turn = self._open_turn()
        set_thought(turn, node)
        # A thought that names its calls is stored with them, and one without an action when its
        # turn is complete: both in a moment.
        if node.kind is ThoughtKind.ACTION and not node.calls:
            self._store_turn(turn, self._channel.seal())

    def _propose(self, calls: Sequence[contracts.ToolCall]) -> None:
        turn = self._open_turn()
        set_calls(turn, calls)
        self._answer.clear()
        self._is_under_way = True
        reserved = self._channel.reserve()
        self._store_turn(turn, reserved, turn.actions)
        self._channel.put_reserved(reserved, self._events.of("actions.proposed", turn))

    def _start_action(self, position: int | None) -> None:
        turn, action = self._open_turn(), self._action(position)
        action.started_at = self._run.clock.now()
        self._is_under_way = True
        self._outputs[action.position] = []
        event = ActionStarted(
            type="action.started", index=turn.index, position=action.position, tool=action.tool
        )
        self._channel.put(event)

    def _show_output(self, text: str, position: int | None) -> None:
        index, place = self._open_turn().index, self._action(position).position
        text = self._kept(self._outputs.setdefault(place, []), text)
        event = ObservationDelta(type="observation.delta", index=index, position=place, text=text)
        self._channel.put(event)

    def _observe(self, observation: Observation, position: int | None) -> None:
        turn = self._open_turn()
        self._is_under_way = False
        action = self._over(turn, observation, position)
        # The last one is stored with its turn, which is complete in a moment.
        if turn.open_action is not None and not action.ends:
            reserved = self._channel.reserve()
            self._store_turn(turn, reserved, self._changed())
            self._channel.put_reserved(reserved, self._events.of("action.completed", turn))

    def _over(self, turn: Turn, observation: Observation, position: int | None) -> Action:
        """Fill in what came back of an action, or of none; it is not stored yet."""
        action = set_observation(turn, observation, position)
        action.ended_at = self._run.clock.now()
        self._outputs.pop(action.position, None)
        set_apart(action, self._control)
        self._observed.append(action)
        return action

    def _complete(self) -> None:
        turn = self._open_turn()
        turn.status = TurnStatus.COMPLETE
        turn.ended_at = self._run.clock.now()
        reserved = self._channel.reserve()
        self._store_turn(turn, reserved, self._changed())
        count_turn(turn)
        self._turn = None
        self._channel.put_reserved(reserved, self._events.completed(turn))

    def _cut_off_turn(self) -> Turn | None:
        turn = self._turn
        if turn is None:
            return None
        turn.thought = turn.thought or "".join(self._thought)
        if turn.open_action is not None and self._is_under_way:
            self._outputs.setdefault(turn.open_action.position, [])
        for position, output in list(self._outputs.items()):
            shown = Observation(text="".join(output), error=ErrorKind.INTERRUPTED)
            self._over(turn, shown, position)
        turn.status = TurnStatus.INTERRUPTED
        turn.ended_at = self._run.clock.now()
        return turn if turn.thought or turn.actions or turn.pk else None

    def _changed(self) -> list[Action]:
        """Return the actions that are not stored as they are now."""
        actions, self._observed = self._observed, []
        return actions

    def _store_turn(self, turn: Turn, stream_id: str, actions: Sequence[Action] = ()) -> None:
        turn.stream_id = stream_id
        turn.attempt = self._run.attempt
        self._run.stream_id = stream_id
        self._write(turn, actions, stream_id=stream_id)

    def _write(
        self, turn: Turn | None = None, actions: Sequence[Action] = (), **changes: object
    ) -> None:
        """Write under the fence, and the call that was held with it."""
        write = partial(store, self._run, self._call, turn, actions, **changes)
        is_one = not any(action.brings for action in actions)
        retrying(write, self._control, in_one_statement=is_one)
        self._call = None

    def _open_turn(self) -> Turn:
        if self._turn is None:
            raise RuntimeError("A policy told of a turn that it has not started.")
        return self._turn

    def _action(self, position: int | None) -> Action:
        """Return the action of that place, the open one for none."""
        turn = self._open_turn()
        action = turn.open_action if position is None else turn.actions[position]
        if action is None:
            raise RuntimeError("A policy told of an action that it has not proposed.")
        return action


_WITH_CALLS = (
    events.ThoughtCompleted
    | events.ActionsProposed
    | events.Observed
    | events.TurnCompleted
    | events.RunEnded
)
"""The events that store the call before them, or come in a moment before one that does."""
