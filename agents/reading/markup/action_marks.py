"""The labels and marks of a reply that ends in an action as JSON, or in an answer."""

import re

_LINE = (
    r"(?:^|(?<=>))(?:[ \t]{0,4}(?:`{3,4}|~{3,4})[\w+-]{0,12}[ \t]{0,2}\r?\n)?"
    r"[ \t]{0,8}(?:[>#*_`-]{1,3}[ \t]?)?"
)
_COLON = r"[*_`]{0,3}[ \t]{0,2}[:\uff1a]"
LABEL = re.compile(
    rf"{_LINE}(?:(?P<action>action(?:[ ]?\d{{1,2}})?{_COLON})"
    rf"|(?P<answer>final[ _-]?answer{_COLON})"
    rf"|(?P<observation>observation{_COLON})"
    r'|(?P<bare>(?=\{\s{0,8}"tool"\s{0,2}:)))'
    r"|[a](?P<inline>(?<!\w\w)ction[*_`]{0,3}:(?=[*_` ]{0,8}\{))"
    r"|(?<!`)[<\[](?:(?P<native>\|?tool_call\|?>|TOOL_CALLS\])|(?P<marker>(?:__)?final_answer(?:__)?>)"
    r"|(?P<thinks>think(?:ing)?>)|(?P<thought>/think(?:ing)?>))",
    re.IGNORECASE | re.MULTILINE,
)
NATIVE_FOLLOWS = re.compile(
    r"\s*(?:</\|?tool_call\|?>)?\s*(?:<\|?tool_call\|?>|\[TOOL_CALLS\])", re.I
)
MAY_FOLLOW = re.compile(r"\s*(?:</[|\w]{0,12}(?:>\s*|$))?(?:[<\[][|\w]{0,12})?$")
"""What may yet become the mark of another native call."""
MARKED = re.compile(r"[:\uff1a{<\[]")
"""What no label is without."""
MARK = re.compile(r"<(?:(?P<end>/(?:__)?final_answer(?:__)?>)|(?:__)?final_answer(?:__)?>)", re.I)
ANSWER_MARK = re.compile(
    rf"(?P<end>{_LINE}(?:observation|thought){_COLON}|</(?:__)?final_answer(?:__)?>"
    rf"|^[ \t]{{0,8}}action{_COLON}[^\n]{{0,24}}\n[ \t]{{0,8}}action[ _]input{_COLON})"
    r"|<(?:__)?final_answer(?:__)?>",
    re.IGNORECASE | re.MULTILINE,
)
THOUGHT_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}")
NAMES_ITSELF = re.compile(
    r"\s*[*_#]{0,3}\s?(?:thought|reasoning|assistant|ai)[*_]{0,3}\s?:[*_]{0,3}", re.I
)
ANSWER_LABEL = re.compile(
    r"\A(?:\s*+[*_#]{0,3}\s?(?:final[ _-]?answer|thought)[*_]{0,3}\s?[:\uff1a][*_]{0,3})++",
    re.IGNORECASE,
)
"""Labels that stand within the marks of an answer, or behind another."""


def open_emphasis(label: str) -> str:
    """Return the emphasis that a label opens and does not close, as in `**Final Answer:** x`."""
    marks = _EMPHASIS.findall(label)
    return marks[0] if len(marks) == 1 else ""
