"""The two tools that settle a goal, and with the last goal the run: complete and fail."""

from typing import Annotated

from pydantic import Field

from agents.contracts import EndReason
from agents.errors import ErrorKind, ToolFailed
from agents.tools.spec import tool

COMPLETE, FAIL = "complete", "fail"
GOAL_FAILED = ErrorKind.GOAL_FAILED
"""The observation's error where a goal failed and the plan may still be adapted."""
NO_REASON = "Task failed"


@tool(timeout=5, may_repeat=True)
def complete(
    result: Annotated[str, Field(description="what was reached; at the end, the whole answer")],
    goal: Annotated[int | None, Field(description="leave this out")] = None,
) -> str:
    """Say that the goal is reached, with its result. For the last goal, this is the answer."""
    if not result.strip():
        raise ToolFailed("The result is empty.")
    return result.strip()


@tool(timeout=5, terminal=True, ends=EndReason.GAVE_UP)
def fail(
    reason: Annotated[str, Field(description="why it cannot be done, for the person")] = NO_REASON,
) -> str:
    """Say that the goal cannot be reached, and why. Only after other ways were tried."""
    return reason.strip() or NO_REASON
