"""Unit questions: "convert 5 miles to km", "how many feet in 2 m?", "72 F in C"."""

import re

from agents.providers.demo.answers.numbers import NUMBER, plain_number
from agents.providers.demo.formats.instructions import convert
from agents.providers.demo.formats.steps import Task, one_step

_UNIT = r"[a-zµ°][a-z/²³°]{0,19}(?: per [a-z]{1,12})?"
_DEGREES = r"(?:degrees? )?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<value>{NUMBER}|that|it|an?) ?{_DEGREES}(?P<source>{_UNIT})"
        rf" (?:in|to|into|as) {_DEGREES}(?P<target>{_UNIT})",
        rf"how (?:many|much) (?P<target>{_UNIT}) (?:(?:are|is) )?(?:there )?(?:(?:in|are|is) )?"
        rf"(?P<value>{NUMBER}|an?) ?{_DEGREES}(?P<source>{_UNIT})",
        rf"(?P<value>{NUMBER}) ?{_DEGREES}(?P<source>{_UNIT}) (?:are|is) how (?:many|much) "
        rf"(?P<target>{_UNIT})",
        rf"how (?:many|much) (?P<source>{_UNIT}) (?:is|are) (?P<value>that|it)"
        rf" (?:in|to|into) (?P<target>{_UNIT})",
    )
)
_ASKS = re.compile(
    r"^(?:(?:please|can you|could you|and|then|so) )*"
    r"(?:convert |what is |what's |how much is |change |turn )?",
    re.IGNORECASE,
)
_NO_UNITS = frozenset({"python", "binary", "hex", "octal", "words", "days"})
_NEARLY = re.compile(r"≈ (-?\d+\.\d+)(?![\de])")
_LONGEST = 200


def read_units(text: str, previous: str) -> Task | None:
    """Return the task if `text` asks to convert a value; "that" is the `previous` one."""
    if len(text) > _LONGEST:
        return None
    asked = _ASKS.sub("", " ".join(text.rstrip("?.! ").split()))
    for form in _FORMS:
        found = form.fullmatch(asked)
        if found is None or found["target"].lower() in _NO_UNITS:
            continue
        given = found["value"].lower()
        value = {"that": previous, "it": previous, "a": "1", "an": "1"}.get(given)
        value = plain_number(given) if value is None else value
        if value:
            return _task(value, found["source"], found["target"])
    return None


def _task(value: str, source: str, target: str) -> Task:
    step = convert(
        f"This asks for {value} {source} in {target}. The converter knows the exact factor, "
        "so I ask it.",
        value,
        source,
        target,
    )
    return one_step(step, lambda seen: f"**{_rounded(seen.strip())}**")


def _rounded(seen: str) -> str:
    """Write what is only nearly so with some six digits; the tool's own words have twelve."""
    return _NEARLY.sub(lambda found: f"≈ {_short(float(found[1]))}", seen)


def _short(value: float) -> str:
    return f"{value:.6g}" if abs(value) < 100_000 else f"{value:.1f}"
