"""Find the demo model's own steps among the calls of a request, each with its result."""

from agents.providers.demo.formats.steps import Step
from agents.providers.demo.formats.trail import NotMine, enclosed_at
from agents.providers.demo.request import Request


class CallTrail:
    """Walk along the calls that a request tells of; each is known by its tool and inputs."""

    def __init__(self, request: Request) -> None:
        self._left = list(request.done)

    def observe(self, step: Step) -> str | None:
        """Return what was observed after `step`, None if it is still to be taken."""
        if not self._left:
            return None
        done = self._left.pop(0)
        if (done.tool, done.inputs) != (step.tool, step.inputs):
            raise NotMine
        return enclosed_at(done.result, 0)[0]
