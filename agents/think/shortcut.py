"""Begin an obvious task without asking a model what to do first."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agents.contracts import Thought, ThoughtKind, ToolCall
from agents.events import Event, ThoughtCompleted, ThoughtDelta
from agents.policy import Think
from agents.state import State

_OPEN = re.compile(
    r"\s*(?:please\s+)?(?:go\s+to|open|visit|navigate\s+to|browse\s+to)\s+"
    r"(?:the\s+)?(?:(?:web\s?)?(?:page|site)\s+)?(?P<url>https?://[^\s\"'<>]{1,2000}?)[.!]?\s*",
    re.IGNORECASE,
)
_GOTO = "browser_goto"

First = Callable[[str], ToolCall | None]


def opens_a_page(task: str) -> ToolCall | None:
    """Return the call for a task that only names a page to open, None for any other."""
    found = _OPEN.fullmatch(task)
    return None if found is None else ToolCall(tool=_GOTO, inputs={"url": found["url"]})


@dataclass(frozen=True)
class ShortcutThink:
    """Take the `first` step of a task by rule where there is one and its tool is; else think.

    Whether the task is done with it is for the wrapped think to say.
    """

    think: Think
    tools: tuple[str, ...]
    first: First = opens_a_page

    def __call__(self, state: State) -> Iterator[Event]:
        """Yield the action with its reason, or the wrapped events."""
        call = self.first(state.goal) if len(state.turns) == 1 else None
        if call is None or call.tool not in self.tools:
            yield from self.think(state)
            return
        said = "The task says what to do first."
        yield ThoughtDelta(text=said)
        yield ThoughtCompleted(node=Thought(kind=ThoughtKind.ACTION, text=said, calls=(call,)))
