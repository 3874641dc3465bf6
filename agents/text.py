"""Text of strangers made fit for a row, a prompt and a reader."""

import re

CUT_SHORT = "\n\n*The answer ends here: the model stopped before it was complete.*"
"""What stands below an answer that is cut; it is known by that, from the record as well."""

REPEATED = "\n\n*The model said the same again and again here, and was stopped.*"
"""What stands below a thought or an answer that is cut because it only repeated itself."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_FENCE = re.compile(r"\A\s*```[\w+-]*[ \t]*\n?(.*)\Z", re.DOTALL)
_LEFT_OUT = "\n[...]\n"


def storable(text: str) -> str:
    """Return `text` with NULs and lone surrogates replaced: no database or socket takes them."""
    if not _UNSTORABLE.search(text):
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\x00", "\ufffd")


def is_cut_short(answer: str) -> bool:
    """Tell whether an answer says below itself that it is cut."""
    return answer.removesuffix(REPEATED).endswith(CUT_SHORT.strip())


def clipped(text: str, limit: int) -> str:
    """Return the head and the tail of a text of more than `limit` characters, half of it each."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}{_LEFT_OUT}{text[-half:]}"


def clipped_to(size: int, text: str) -> str:
    """Return the head and the tail of a text, together `size` bytes of it, cut between letters."""
    raw = text.encode(errors="replace")
    half = max(0, size) // 2
    head = raw[:half].decode(errors="ignore")
    tail = raw[len(raw) - half :].decode(errors="ignore")
    return f"{head}{_LEFT_OUT}{tail}"


def unfenced(text: str) -> str:
    """Return `text` without surrounding space and without the code fence it begins with."""
    match = _FENCE.match(text)
    if match is None:
        return text.strip()
    return match[1].rpartition("```")[0].strip("\n") if "```" in match[1] else match[1].strip("\n")
