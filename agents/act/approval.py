"""Let a risky action wait for a person's yes; with nobody to ask, the answer is no."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from agents.act.leaving import why_ask
from agents.contracts import Observation, ToolCall, Value
from agents.errors import ErrorKind, InvalidInputs, ToolNotFound
from agents.events import ActionsProposed, Event, Observed
from agents.policy import Act
from agents.state import State
from agents.tools.spec import Safety, Tool
from agents.tools.toolkit import Toolkit

RISKY = frozenset({Safety.SENSITIVE, Safety.DANGEROUS})


class ApprovalAnswer(Value):
    """What was said to an action; `feedback` is told to the model.

    `has_begun` says that the action was begun on this very answer before, and may have taken
    effect.
    """

    granted: bool
    feedback: str = ""
    has_begun: bool = False


Ask = Callable[[Tool, ToolCall, str], ApprovalAnswer]
"""Asks a person about a call that has been proposed, and says why where it is not the tool's own
risk; raises Parked to be asked again later."""


def nobody(tool: Tool, call: ToolCall, why: str) -> ApprovalAnswer:
    """Refuse, for there is nobody to ask."""
    feedback = f"{why} There is nobody to ask for approval.".strip()
    return ApprovalAnswer(granted=False, feedback=feedback)


def needs_approval(tool: Tool, names: tuple[str, ...] = ()) -> bool:
    """Tell whether a person is to be asked: about what is risky, and what one of `names` fits.

    In a name, `*` stands for any characters.
    """
    return tool.safety in RISKY or any(fnmatchcase(tool.name, name) for name in names)


@dataclass(frozen=True)
class ApprovedAct:
    """Ask once an action is next, before its tool runs; a no becomes an observation.

    `names` are tools to ask about beside those that are sensitive or dangerous. A call that goes
    out is asked about as soon as it may carry something away, see `why_ask`; `own` are steps of the
    policy that are no tools.
    """

    act: Act
    toolkit: Toolkit
    ask: Ask = nobody
    names: tuple[str, ...] = ()
    own: Collection[str] = ()

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the wrapped events, or the refused action with what was said to it."""
        action = state.turns[-1].open_action
        if action is not None and action.call is not None:
            yield from self._go_on(state, action.call)
            return
        for event in self.act(state):
            yield event
            if isinstance(event, ActionsProposed):
                said = self._asked(state, event.calls[0])
                if said is not None and not said.granted:
                    yield _refusal(event.calls[0], said)
                    return

    def _go_on(self, state: State, call: ToolCall) -> Iterator[Event]:
        """Carry on with an action that was proposed before; who did so may have asked about it."""
        said = self._asked(state, call)
        if said is None:
            yield from self.act(state)
        elif said.granted:
            yield from self.act(replace(state, may_have_begun=said.has_begun))
        else:
            yield _refusal(call, said)

    def _asked(self, state: State, call: ToolCall) -> ApprovalAnswer | None:
        """Return what was said to the call; None where it needs no approval."""
        try:
            tool = self.toolkit.get(call.tool)
            why = why_ask(state, tool, self.toolkit, self.own)
            if not why and not needs_approval(tool, self.names):
                return None
            self.toolkit.validate(tool, call.inputs)
        except (ToolNotFound, InvalidInputs):
            return None  # it can only fail, and nobody need be asked for that
        return self.ask(tool, call, why)


def _refusal(call: ToolCall, said: ApprovalAnswer) -> Observed:
    text = f"The call of {call.tool} was not approved. {said.feedback}".strip()
    return Observed(observation=Observation(text=text, error=ErrorKind.NOT_APPROVED))
