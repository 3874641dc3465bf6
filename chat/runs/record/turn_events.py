"""What pages are told of a turn that changed: its HTML, and the plan's where it changed that."""

from collections.abc import Sequence

from chat.models import Run, Turn
from chat.runs.db_retry import release_connection
from chat.stream.plans import after, plan_shown
from chat.stream.render import render_plan, render_turn
from chat.stream.server_events import TurnChange, TurnCompleted, TurnShown


class TurnEvents:
    """Tell of the turns of one run; `turns` are those that earlier attempts stored."""

    def __init__(self, run: Run, turns: Sequence[Turn]) -> None:
        self._run = run
        self._plan = plan_shown(run, turns)

    def of(self, change: TurnChange, turn: Turn) -> TurnShown:
        """Return the event of a change of a turn that is not complete."""
        return TurnShown(type=change, index=turn.index, html=self._html(turn))

    def completed(self, turn: Turn) -> TurnCompleted:
        """Return the event of a turn that is; the plan is in it where it is another after it."""
        event = TurnCompleted(type="turn.completed", index=turn.index, html=self._html(turn))
        plan = after(self._plan, turn)
        if plan is not None and plan != self._plan:
            self._plan = plan
            event["plan"] = render_plan(plan, self._run)
        return event

    def _html(self, turn: Turn) -> str:
        html = render_turn(turn, self._run)
        release_connection()  # what the template asked for; the next event may be minutes away
        return html
