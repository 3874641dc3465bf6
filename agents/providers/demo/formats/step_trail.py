"""Find the demo model's own steps where each stands under its number, its observation enclosed."""

import json
import re

from agents.providers.demo.formats.steps import Step
from agents.providers.demo.formats.trail import NotMine, enclosed_at
from agents.providers.demo.request import Request

_HEADER = re.compile(r"\n\nStep \d+\n")


class StepTrail:
    """Walk along the steps of a structured prompt; each is known by its exact text."""

    def __init__(self, request: Request) -> None:
        self._text = request.work

    def observe(self, step: Step) -> str | None:
        """Return what was observed after `step`, None if it is still to be taken."""
        header = _HEADER.match(self._text)
        if header is None:
            return None
        before = f"Thought: {step.thought}\nAction: {_written(step)}\nObservation:\n"
        if not self._text.startswith(before, header.end()):
            raise NotMine
        seen, self._text = enclosed_at(self._text, header.end() + len(before))
        return seen


def _written(step: Step) -> str:
    inputs = json.dumps(step.inputs, ensure_ascii=False, sort_keys=True)
    return f'{{"tool": {json.dumps(step.tool)}, "parameters": {inputs}}}'
