"""Native calls: the tools go with each request, and the model calls them in its server's own way.

The calls of one reply run at once where they only read. Where the model's server takes no tools,
the rest of the run is as under `explicit`, and the transcript says so.
"""

from pydantic import Field

from agents.act.approval import needs_approval
from agents.act.leaving import why_ask
from agents.act.named_tool import NamedToolAct
from agents.act.native import NativeAct
from agents.contracts import Value
from agents.decide import FailureLimit, NoUnreadable, RepeatLimit, react_in_text
from agents.errors import ConfigurationError
from agents.policies.context import Parts
from agents.policies.declared import policy
from agents.policy import Policy
from agents.providers.base import CHOICES
from agents.state import State
from agents.summarize import FinalAnswer
from agents.think.native import NativeThink
from agents.think.text import TextThink
from agents.tools.spec import Tool


class Settings(Value):
    """What a version of this policy fixes."""

    tool_choice: str = Field(
        default="auto",
        description="What the first reply is to do: auto, required, none, or a tool's name.",
    )
    strict: bool = Field(default=True, description="Ask for calls that keep to the tools' schemas.")
    sees: bool = Field(default=False, description="Show the model the pictures that tools return.")
    max_failures: int = Field(
        default=6, ge=1, description="Failed turns in a row that end the run."
    )


@policy("native", Settings)
def native(parts: Parts, settings: Settings) -> Policy:
    """Return the policy for one run."""
    model, toolkit = parts.model, parts.toolkit
    if settings.tool_choice not in (*CHOICES, *toolkit.names):
        raise ConfigurationError(
            f"`tool_choice` is {settings.tool_choice!r}, which is no tool of this policy, nor one "
            f"of {', '.join(CHOICES)}."
        )

    def must_ask(state: State, tool: Tool) -> bool:
        return needs_approval(tool, parts.approve) or bool(why_ask(state, tool, toolkit))

    in_text = NamedToolAct(toolkit, model.control)
    return Policy(
        think=NativeThink(
            model,
            toolkit,
            TextThink(model, toolkit),
            choice=settings.tool_choice,
            strict=settings.strict,
            sees=settings.sees,
        ),
        act=NativeAct(toolkit, model.control, must_ask, in_text),
        decide=FailureLimit(
            NoUnreadable(RepeatLimit(react_in_text), times=2), settings.max_failures
        ),
        summarize=FinalAnswer(model, parts.limits.max_turns),
    )
