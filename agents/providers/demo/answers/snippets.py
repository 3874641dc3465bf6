"""Python snippets: a code block, "run python: ...", "what does this print"."""

import re

from agents.providers.demo.answers.quoting import quoted
from agents.providers.demo.formats.instructions import run_python
from agents.providers.demo.formats.steps import Task, one_step

_FENCED = re.compile(r"^```(\w*)[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(
    r"^(?:please )?(?:can you )?(?:run|execute|evaluate|exec)(?: this| the)?(?: following)?"
    r"(?: in)? ?python(?: code| snippet| program| script)?\s*:?\s+(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_OUTPUT_OF = re.compile(
    r"^(?:what (?:does|will|would) (?:this|the following)(?: python)?(?: code)? "
    r"(?:print|output|return|do)|what is the output(?: of)?(?: this)?)\s*[:?]?\s+(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_PREFIX = re.compile(r"^python\s*:\s*(.+)$", re.IGNORECASE | re.DOTALL)


def read_snippet(text: str, previous: str) -> Task | None:
    """Return the task if `text` holds Python to run."""
    code = _code_in(text)
    if not code:
        return None
    step = run_python(
        "This is Python code. I do not guess what it prints; I run it in the sandbox.", code
    )
    return one_step(step, lambda seen: f"The code printed:\n\n{quoted(seen)}")


def _code_in(text: str) -> str:
    fenced = _FENCED.search(text)
    if fenced is not None:
        return fenced[2].strip("\n") if fenced[1].lower() in ("", "py", "python", "python3") else ""
    for form in (_INLINE, _OUTPUT_OF, _PREFIX):
        if found := form.match(text.strip()):
            return found[1].strip().strip("`").strip()
    return ""
