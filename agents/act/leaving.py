"""What a run has read before a call goes out, for that call may carry it away.

A page, a search result or an old transcript can hold words that a model obeys, and the call that it
then makes can hold whatever the model knows. So a call out goes unasked only while the model has
read nothing but its question and what tools here have computed.
"""

from collections.abc import Collection, Iterator

from agents.contracts import Action
from agents.errors import ErrorKind, ToolNotFound
from agents.state import State
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit

EARLIER = "the conversation so far"
_NEVER_RAN = {ErrorKind.INVALID_INPUTS, ErrorKind.NOT_APPROVED, ErrorKind.TOOL_NOT_FOUND}
_NAMED = 3


def why_ask(state: State, tool: Tool, toolkit: Toolkit, own: Collection[str] = ()) -> str:
    """Say for a person why a call of `tool` needs a yes now; empty where it needs none for this.

    It is told from the State alone, so any worker comes to the same. `own` are steps of a policy
    that are no tools.
    """
    if not tool.reaches_out:
        return ""
    read = list(dict.fromkeys(_read(state, toolkit, own)))
    if not read:
        return ""
    named = ", ".join(read[:_NAMED]) + (" and more" if len(read) > _NAMED else "")
    return (
        f"It goes out to the network after the run has read {named}. Look whether it carries "
        "anything away that should stay."
    )


def _read(state: State, toolkit: Toolkit, own: Collection[str]) -> Iterator[str]:
    if state.history:
        yield EARLIER
    # What the open turn calls was all written before anything of it came back.
    for turn in state.turns[:-1]:
        for action in turn.actions:
            if action.call is not None and _brought_in(action, action.call.tool, toolkit, own):
                yield action.call.tool


def _brought_in(action: Action, name: str, toolkit: Toolkit, own: Collection[str]) -> bool:
    if action.observation is None or action.observation.error in _NEVER_RAN or name in own:
        return False
    try:
        tool = toolkit.get(name)
    except ToolNotFound:
        return True  # another worker had it; nobody knows here what it read
    return tool.reaches_out or tool.brings_in
