"""Say to a model what was wrong with a reply, and the form that is wanted, from its thought alone.

The reply is shown to it, so that the next request is another one; all of it is one observation,
which is stored and replayed like any other.
"""

from agents.contracts import Observation
from agents.errors import ErrorKind, ParseError
from agents.reading.action import read_action
from agents.reading.markup.calls import CALL_MARK, read_calls
from agents.text import clipped

BROKEN = "\n\nAction: "
"""What stands before an action that could not be read, in the text of its thought."""

_ECHO = 1_000
_TEXT_FORM = (
    "Write either a line `Action:` with the name of one tool and below it a line `Action Input:` "
    "with its inputs as one JSON object, or a line `Final Answer:` with the answer."
)


def text_complaint(thought: str) -> Observation:
    """Return the complaint about a reply in which a line of the text format was wanted."""
    problem = why_unread(thought)
    text = f"{problem} {_TEXT_FORM}" if problem else no_step(thought, _TEXT_FORM)
    return Observation(text=text, error=ErrorKind.PARSE_ERROR)


def why_unread(thought: str) -> str:
    """Return why the action at a thought's end could not be read, empty where there is none."""
    _, label, written = f"\n\n{thought}".rpartition(BROKEN)
    if not label:
        return ""
    return f"The action could not be read{_reason(written)}"


def no_step(thought: str, form: str) -> str:
    """Return the complaint about a reply that holds neither an action nor an answer."""
    said = clipped(thought.strip(), _ECHO)
    if not said:
        return f"The reply was empty. {form}"
    return f"That reply was neither an action nor an answer:\n\n{said}\n\n{form}"


def _reason(written: str) -> str:
    if CALL_MARK.match(written) is not None:
        error = read_calls(written, lambda _: True).error
        return f". {error}" if error else ": it breaks off."
    try:
        read_action(written)
    except ParseError as error:
        return f". {error}"
    return ": it breaks off."
