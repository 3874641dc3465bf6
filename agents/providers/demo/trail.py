"""Find the demo model's own earlier steps in the prompt, and what was observed after each."""

from agents.providers.demo.request import Request
from agents.providers.demo.steps import Step, action_text, input_texts


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
        self._next = "\nACTION: " if request.as_json else "\nThought: "

    def observe(self, step: Step, *, is_last: bool) -> str | None:
        """Return what was observed after `step`, None if it is still to be taken."""
        if self._text == self._end:
            return None
        for opening in self._openings(step):
            if self._text.startswith(opening):
                return self._observation(len(opening), is_last)
        raise NotMine

    def _observation(self, start: int, is_last: bool) -> str:
        end = -1 if is_last else self._text.find(self._next, start)
        if end < 0:
            end = len(self._text) - len(self._end)
        observation = self._text[start:end]
        self._text = self._text[end:].removeprefix("\n" if self._as_json else "")
        return observation

    def _openings(self, step: Step) -> list[str]:
        if self._as_json:
            action = f"ACTION: {step.instruction}\n"
            executed = f"ACTION_EXECUTED: tool_id={step.tool}\n"
            return [f"{action}{executed}OBSERVATION: ", f"{action}OBSERVATION: "]
        if self._as_action_json:
            return [f"\nThought: {step.thought}\nAction: {action_text(step)}\nObservation: "]
        action = f"\nThought: {step.thought}\nAction: {step.tool}\nAction Input: "
        return [f"{action}{text}\nObservation: " for text in input_texts(step.inputs)]
