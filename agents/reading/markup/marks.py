"""The marks by which models part what they think, what they call and what they say.

A mark right behind a backtick is a word about the mark. What a tag is called matters, not which of
the families writes it: a mark that is not in the table and looks like one of theirs is dropped.
"""

import re

from agents.reading.markup.calls import MARK as CALL

_BAR = r"[|\uff5c]"
_THINKS = r"(?:think(?:ing)?|thoughts?|reasoning|reflection)"
MARK = re.compile(
    rf"(?<!`)(?:(?P<open><(?:\w{{1,20}}:)?{_THINKS}(?:\s[^<>\n]{{0,100}})?>|\[THINK\]|\u25c1think\u25b7"
    rf"|<{_BAR}(?:START_THINKING|inner_prefix|begin_of_thought|think(?:ing)?){_BAR}>"
    r"|<\|channel>(?:thought|analysis)\n?)"
    rf"|(?P<close></(?:\w{{1,20}}:)?{_THINKS}>|\[/THINK\]|\u25c1/think\u25b7|<channel\|>"
    rf"|<{_BAR}(?:END_THINKING|inner_suffix|end_of_thought|/think(?:ing)?){_BAR}>)"
    r"|(?P<header><\|(?:start|channel)\|>)"
    r"|(?P<answer><(?:answer|response)>"
    rf"|<{_BAR}(?:START_RESPONSE|START_TEXT|begin_of_solution){_BAR}>|<\|channel>final\n?)"
    r"|(?P<final></?(?:__)?final_answer(?:__)?>)"
    rf"|(?P<end><{_BAR}(?:eot_id|eom_id|im_end|endoftext|end_of_text|end_of_turn|return|user"
    rf"|observation|END_OF_TURN_TOKEN|end[_\u2581]of[_\u2581]sentence|start_header_id|im_start){_BAR}>"
    r"|<end_of_turn>|<start_of_turn>|<tool_response>|<function_results?>|<eos>)"
    rf"|(?P<call>{CALL.pattern})"
    rf"|(?P<noise></(?:answer|response)>|<end_code>|<{_BAR}[\w\u2581/]{{1,60}}{_BAR}>))",
    re.IGNORECASE,
)
"""Each mark, by what it means."""

MESSAGE = re.compile(r"<\|message\|>", re.IGNORECASE)
"""What ends the header of one of Harmony's messages."""

_CALL_ENDS = re.compile(r"</?\|?tool_calls?\|?>|\[/?TOOL_CALLS\]", re.IGNORECASE)
_LONGEST = 140
_SO_FAR = re.compile(
    r"<(?:/?[^<>\s\d=`\"'][^<>\n`]{0,130})?\Z|\[/?[A-Z_]{0,12}\Z"
    r"|\u25c1/?[a-z]{0,5}\Z|\u273f[A-Z]{0,8}\Z"
)
_STARTS = re.compile(r"[<\[\u25c1\u273f]")
_TAIL = re.compile(rf"(?:\s|</s>|<eos>|<{_BAR}[\w\u2581]{{1,40}}{_BAR}>)++\Z")
_TAIL_LENGTH = 200


def certain_end(text: str, at: int) -> int:
    """Return where the text from `at` ends that can be no part of an unfinished mark."""
    end = len(text)
    for begin in _STARTS.finditer(text, max(at, end - _LONGEST)):
        if _SO_FAR.match(text, begin.start()):
            end = begin.start()
            break
    return end - (end > at and text[end - 1] == "`")


def begins_call(text: str) -> bool:
    """Tell whether a call in a family's markup begins before any object of JSON does."""
    end = text.find("{")
    before = MARK.finditer(text, 0, len(text) if end < 0 else end)
    return any(mark.lastgroup == "call" for mark in before)


def without_begin_marks(text: str) -> str:
    """Return a text without the marks and the space at its beginning."""
    at = len(text) - len(text.lstrip())
    while mark := MARK.match(text, at) or _CALL_ENDS.match(text, at):
        rest = text[mark.end() :]
        at = len(text) - len(rest.lstrip())
    return text[at:]


def without_end_marks(text: str) -> str:
    """Return a text without the marks and the space at its end."""
    tail = _TAIL.search(text, max(0, len(text) - _TAIL_LENGTH))
    return text.rstrip() if tail is None else text[: tail.start()]
