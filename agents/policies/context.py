"""What a policy is built from for one run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import ValidationError

from agents.act.approval import Ask, needs_approval, nobody
from agents.contracts import Value
from agents.errors import ConfigurationError
from agents.model.model import Model
from agents.policies.spec import Limits
from agents.policy import Policy
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit

Settings = TypeVar("Settings", bound=Value)


STRUCTURED = (
    "Ask the model's server to let the model write only replies of the form that is wanted. A "
    "server that cannot is asked in the best way that it knows."
)
"""What the setting `structured` does, under each policy that wants JSON."""


class NoSettings(Value):
    """The settings of a policy that has none."""


@dataclass(frozen=True)
class Parts:
    """One run's model, tools and limits, what its policy version sets beside them, whom to ask.

    `ask` is asked before a sensitive or dangerous tool runs, and one that `approve` names; by
    default nobody is there. It is also asked before a call that may carry away what was read.
    `person` and `conversation` are the instructions of who asks, and of the thread, beside those
    of the policy version.
    """

    model: Model
    toolkit: Toolkit
    limits: Limits
    settings: Mapping[str, Any] = field(default_factory=dict)
    ask: Ask = nobody
    approve: tuple[str, ...] = ()
    person: str = ""
    conversation: str = ""

    def asks_about(self, tool: Tool) -> bool:
        """Tell whether a person is asked before calls of the tool, all of them or some."""
        return tool.reaches_out or needs_approval(tool, self.approve)

    def settings_as(self, kind: type[Settings]) -> Settings:
        """Return the settings as the policy's own; raises ConfigurationError naming the wrong."""
        try:
            return kind.model_validate(dict(self.settings))
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
                for problem in error.errors(include_url=False, include_input=False)
            )
            raise ConfigurationError(f"The policy's settings cannot be used: {wrong}.") from error


Build = Callable[[Parts], Policy]
