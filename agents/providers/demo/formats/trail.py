"""Find the demo model's own earlier steps in the prompt, and what was observed after each."""

import re

from agents.providers.demo.formats.steps import Step, action_text, input_texts
from agents.providers.demo.request import Request

_OPENING = re.compile(r'<(observation id="[0-9a-f]+")>\n')


class NotMine(Exception):
    """Raised when the steps in the prompt are not those that the demo model takes."""


class Trail:
    """Walk along the steps that the prompt shows, in the order in which they were taken.

    Each step is known by its exact text, so that nothing a user or a tool writes can pass for one.
    """

    def __init__(self, request: Request) -> None:
        self._as_json = request.as_json
        self._as_action_json = request.wants_action_json
        work = request.work
        self._text = work.partition("Transcript:\n")[2] if request.as_json else work[1:]
        self._end = "" if request.as_json else "\nThought: "

    def observe(self, step: Step) -> str | None:
        """Return what was observed after `step`, None if it is still to be taken."""
        if self._text == self._end:
            return None
        for opening in self._openings(step):
            if self._text.startswith(opening):
                seen, rest = enclosed_at(self._text, len(opening))
                self._text = rest.removeprefix("\n" if self._as_json else "")
                return seen
        raise NotMine

    def _openings(self, step: Step) -> list[str]:
        if self._as_json:
            action = f"ACTION: {step.instruction}\n"
            executed = f"ACTION_EXECUTED: tool_id={step.tool}\n"
            return [f"{action}{executed}OBSERVATION:\n", f"{action}OBSERVATION:\n"]
        if self._as_action_json:
            return [f"\nThought: {step.thought}\nAction: {action_text(step)}\nObservation:\n"]
        action = f"\nThought: {step.thought}\nAction: {step.tool}\nAction Input: "
        return [f"{action}{text}\nObservation:\n" for text in input_texts(step.inputs)]


def enclosed_at(text: str, start: int) -> tuple[str, str]:
    """Return the observation whose mark is at `start`, and the text behind it; raises NotMine."""
    opening = _OPENING.match(text, start)
    if opening is None:
        raise NotMine
    seen, _, rest = text[opening.end() :].partition(f"\n</{opening[1]}>")
    return seen, rest
