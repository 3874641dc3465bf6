"""Hand what one call leaves beside its text to the very next call that succeeds, within one run.

Extras live here alone, in the worker that carries the run: they are in no event, no prompt and no
store, and may be objects of any kind. A run that another worker takes over begins without them.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from agents.act.approval import needs_approval
from agents.act.run_action import Calls
from agents.contracts import Image, Observation, ToolCall
from agents.control import Control
from agents.errors import ToolNotFound
from agents.events import ObservationDelta
from agents.tools.attachments import Extras, Handed
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit


@dataclass
class ExtrasAct:
    """Call the tools of a toolkit, each with the extras of the call before.

    An extra takes the place of the input of its name; all of them are there for a tool that asks
    for `extras`. A call that fails leaves them to the next. The inputs of a tool that a person is
    `asked` about stay as they were shown.
    """

    toolkit: Calls
    asked: Callable[[Tool], bool] = needs_approval
    _extras: Extras = field(default_factory=Extras, init=False, repr=False)

    def get(self, name: str) -> Tool:
        """Return the tool of that name; raises ToolNotFound."""
        return self.toolkit.get(name)

    def call(
        self, call: ToolCall, control: Control
    ) -> Generator[ObservationDelta, None, Observation]:
        """Carry out an action as the toolkit does."""
        try:
            tool = self.toolkit.get(call.tool)
        except ToolNotFound:
            return (yield from self.toolkit.call(call, control))
        given, handed = self._extras, Extras()

        def run(**inputs: Any) -> Iterator[str | Image]:
            taken = () if self.asked(tool) else tool.input_names
            known = {name: given[name] for name in given if name in taken}
            asked = {"extras": Extras(given)} if tool.wants_extras else {}
            yield from _output(tool, inputs | known | asked, handed)

        observation = yield from Toolkit([replace(tool, run=run)]).call(call, control)
        if observation.error is None:
            self._extras = handed
        return observation


def _output(tool: Tool, inputs: dict[str, Any], handed: Extras) -> Iterator[str | Image]:
    result = tool.run(**inputs)
    yield from (result,) if isinstance(result, str) else result
    if isinstance(result, Handed):
        handed.update(result.extras)
