"""Look-ups in the asker's own past transcripts."""

import re

from agents.providers.demo.answers.quoting import quoted
from agents.providers.demo.formats.instructions import search
from agents.providers.demo.formats.steps import Task, one_step

_PAST = r"(?:past|earlier|previous|old|last)"
_KEPT = r"(?:chats?|conversations?|transcripts?|questions?|messages?|history|runs?)"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:search|look|find|go)(?: up| through| in| into)? (?:in |through )?(?:my |the )?"
        rf"(?:{_PAST} )?{_KEPT}(?: for| about| on)? (?P<query>.+)",
        rf"(?:find|search|look up|look for|search for) (?P<query>.+) in (?:my |the )?"
        rf"(?:{_PAST} )?{_KEPT}",
        r"(?:what|when|where) did (?:i|we|you) (?:ask|say|talk|compute|calculate|find|discuss"
        r"|tell me)(?: you)?(?: (?:about|for|on|out))?(?: about)? (?P<query>.+)",
        r"(?:did|have) (?:i|we) (?:ever |already )?(?:ask(?:ed)?|talk(?:ed)?|discuss(?:ed)?)"
        r"(?: you)?(?: (?:about|for|on))? (?P<query>.+)",
    )
)
_POLITE = re.compile(r"^(?:please |can you |could you )+", re.IGNORECASE)
_ENDS = re.compile(r"(?: (?:before|yesterday|earlier|last time|already|so far))*[\s?.!]*$", re.I)
_LONGEST = 400


def read_look_up(text: str, previous: str) -> Task | None:
    """Return the task if `text` asks what was said in the past."""
    asked = _POLITE.sub("", " ".join(text.split()))
    if len(asked) > _LONGEST:
        return None
    for form in _FORMS:
        if found := form.fullmatch(_ENDS.sub("", asked)):
            query = found["query"].strip(" :'")
            return _task(query) if query else None
    return None


def _task(query: str) -> Task:
    step = search("This is about earlier conversations, which I can only know by a search.", query)
    return one_step(step, lambda seen: f"Your earlier conversations have this:\n\n{quoted(seen)}")
