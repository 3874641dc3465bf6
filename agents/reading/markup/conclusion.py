"""What a reply comes to, whichever form it was asked for: actions, an answer, or what is wrong."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from agents.reading.action import WrittenAction
from agents.reading.action_reply import ActionReply
from agents.reading.markup.action_marks import ANSWER_LABEL
from agents.reading.markup.calls import Calls, read_calls
from agents.reading.markup.inputs import unquoted
from agents.reading.markup.marks import without_begin_marks, without_end_marks
from agents.reading.markup.relabelled import prose_of, read_relabelled
from agents.reading.markup.second_look import said_in_object, unmarked_calls
from agents.reading.markup.shapes import Known
from agents.reading.text_reply import TextReply

_ANSWERS = frozenset(
    [
        "finalanswer",
        "finish",
        "answer",
        "respond",
        "response",
        "reply",
        "speak",
        "say",
        "final",
        "directanswer",
        "directresponse",
        "respondtouser",
        "answeruser",
        "sendmessagetouser",
        "done",
    ]
)
"""What models call the tool that they think there is for answering."""

_CUT = "The call breaks off: the reply reached its length limit."
_BREAKS_OFF = "The call breaks off before its inputs are complete."
_OPEN_CALL = re.compile(r"[\w.-]{1,100}[ \t]*[(\[][^)\]]*")
_THINKS_ON = re.compile(r"\n[ \t]*<(?:think|thought|reasoning)[^<>\n]{0,40}>", re.I)


@dataclass(frozen=True)
class Reading:
    """What a reply says: its thought, and one of what follows.

    `actions` are to be carried out in their order; `answer` is for the person; `broken` is what was
    meant for an action and cannot be read, `error` why not; `prose` is a text without any step.
    `shown` is what of an answer was shown while it came, `aloud` what was thought apart.
    """

    thought: str = ""
    actions: tuple[WrittenAction, ...] = ()
    answer: str = ""
    broken: str = ""
    error: str = ""
    prose: str = ""
    shown: str = ""
    aloud: str = ""

    def unshown(self, answer: str) -> str:
        """Return what is still to be shown of an answer."""
        return answer.removeprefix(self.shown) if answer.startswith(self.shown) else ""


def concluded(
    form: TextReply | ActionReply, said: str, calls: str, aloud: str, known: Known, *, is_cut: bool
) -> Reading:
    """Return what a reply comes to.

    `form` is what the form's own reader made of it, `said` what that was given, `calls` what was
    gathered from the first mark of a call on, `aloud` what was thought apart. A call of a reply
    that was cut is none.
    """
    if calls:
        found = Calls(error=_CUT) if is_cut else read_calls(calls, known)
        return _of_calls(form.thought, found, calls, known)
    if form.answer:
        return Reading(form.thought, answer=cleaned(form.answer), shown=form.answer)
    own = _own(form)
    if own.actions and all(known(one.tool or "") and one.inputs for one in own.actions):
        return own
    other = _looked_again(said, known)
    if other is None:
        if own.actions or own.error:
            return _own_answer(own, known)
        return Reading(form.thought, prose=cleaned(prose_of(without_end_marks(said))))
    if (own.actions or own.error) and not (other.actions or other.answer):
        return _own_answer(own, known)
    thoughts = (text.strip() for text in (aloud, other.thought))
    thought = "\n\n".join(filter(None, thoughts))
    return replace(other, thought=thought, broken=other.broken or own.broken)


def cleaned(answer: str) -> str:
    """Return an answer without a label before it and without marks behind it."""
    while (bare := ANSWER_LABEL.sub("", without_begin_marks(answer))) != answer:
        answer = bare
    return without_end_marks(bare).strip()


def _own(form: TextReply | ActionReply) -> Reading:
    if isinstance(form, ActionReply):
        cut = [
            a.tool for a in form.actions if a.tool and not a.inputs and _OPEN_CALL.fullmatch(a.tool)
        ]
        if cut:
            return Reading(form.thought, broken=cut[0], error=_BREAKS_OFF)
        return Reading(form.thought, form.actions, broken=form.broken, error=form.error)
    if not form.tool:
        return Reading(form.thought)
    if not form.tool_input and _OPEN_CALL.fullmatch(form.tool):
        return Reading(form.thought, broken=form.tool, error=_BREAKS_OFF)
    inputs = _THINKS_ON.split(form.tool_input)[0]
    return Reading(form.thought, (WrittenAction(form.tool, without_end_marks(inputs)),))


def _own_answer(reading: Reading, known: Known) -> Reading:
    """Return an action that is an answer as one."""
    answer = _answer(reading.actions, known) if reading.actions else ""
    return Reading(reading.thought, answer=answer) if answer else reading


def _of_calls(thought: str, found: Calls, written: str, known: Known) -> Reading:
    if found.error:
        return Reading(thought, broken=written.strip(), error=found.error)
    answer = _answer(found.actions, known)
    if answer:
        return Reading(thought, answer=answer)
    return Reading(thought, found.actions)


def _looked_again(said: str, known: Known) -> Reading | None:
    """Return what stands in a reply without the marks and labels that were asked for."""
    text = without_end_marks(said)
    broken: Reading | None = None
    for at, found in unmarked_calls(text, known):
        thought = "\n".join(filter(None, [_thought(text[:at]), said_in_object(text[at:])[0]]))
        read = _of_calls(thought, found, text[at:], known)
        if not read.error:
            return read
        broken = broken or read
    labelled = read_relabelled(text)
    if labelled.answer:
        return Reading(labelled.thought, answer=cleaned(labelled.answer))
    if labelled.tool:
        action = WrittenAction(labelled.tool, labelled.tool_input)
        answer = _answer((action,), known)
        if answer:
            return Reading(labelled.thought, answer=answer)
        if known(labelled.tool) and not _OPEN_CALL.fullmatch(labelled.tool):
            return Reading(labelled.thought, (action,))
    thought, answer = said_in_object(text) if text.lstrip(" \n`json").startswith("{") else ("", "")
    return Reading(thought, answer=answer) if answer else broken


def _thought(text: str) -> str:
    return read_relabelled(text).thought if text.strip() else ""


def _answer(actions: tuple[WrittenAction, ...], known: Known) -> str:
    """Return the answer of a call of a tool for answering that was never offered."""
    name = actions[0].tool or ""
    if known(name) or re.sub(r"[\W_]+", "", name.lower()) not in _ANSWERS:
        return ""
    return cleaned(_text(actions[0].inputs))


def _text(inputs: dict[str, Any] | str) -> str:
    if isinstance(inputs, str):
        bare = inputs.strip()
        if bare.startswith("{"):
            try:
                inputs = json.loads(bare, strict=False)
            except (ValueError, RecursionError):
                return bare
        else:
            return unquoted(bare).strip()
    if not isinstance(inputs, dict):
        return json.dumps(inputs, ensure_ascii=False)
    values = list(inputs.values())
    if len(values) == 1 and isinstance(values[0], str):
        return values[0].strip()
    return json.dumps(inputs, ensure_ascii=False) if values else ""
