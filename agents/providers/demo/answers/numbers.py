"""Numbers as people write them in a question, and as tools return them."""

import re

NUMBER = r"[-+]?\d{1,15}(?:,\d{3}){0,5}(?:\.\d{1,15})?"
_RESULT = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_BOLD = re.compile(r"\*\*(-?\d[\d,]*(?:\.\d+)?)\*\*")
_AFTER_EQUALS = re.compile(r"[=≈]([^=≈]*)\Z")


def plain_number(written: str) -> str:
    """Return a written number without its thousands' marks and plus sign."""
    return written.replace(",", "").lstrip("+")


def result_number(seen: str) -> str:
    """Return the number that an observation or an answer ends on, empty if it holds none."""
    line = seen.strip().split("\n")[-1].replace(",", "")
    result = _AFTER_EQUALS.search(line)
    found = _RESULT.search(result[1] if result else line)
    return found[0] if found else ""


def answered_number(answer: str) -> str:
    """Return the number that an earlier answer gave as its result, empty without one."""
    line = answer.strip().split("\n")[-1]
    bold = _BOLD.findall(line)
    return result_number(line) if _AFTER_EQUALS.search(line) else plain_number(*bold[-1:] or [""])
