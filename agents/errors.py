"""The engine's one small tree of errors.

`Recoverable` goes to the model as an observation and the run goes on; every other error ends the
run, and its message is written for the person who can mend it.
"""

from enum import StrEnum
from typing import ClassVar


class ErrorKind(StrEnum):
    """What a failure is called where it is stored and compared: in rows, recordings and pages.

    A value never changes, whatever becomes of its class. GOAL_FAILED is no error of the engine's:
    the model says of a goal that it failed.
    """

    AGENT_ERROR = "AgentError"
    RECOVERABLE = "Recoverable"
    PARSE_ERROR = "ParseError"
    TOOL_ERROR = "ToolError"
    TOOL_NOT_FOUND = "ToolNotFound"
    TOOL_SELECTION_ERROR = "ToolSelectionError"
    INVALID_INPUTS = "InvalidInputs"
    TOOL_FAILED = "ToolFailed"
    TOOL_TIMEOUT = "ToolTimeout"
    NOT_APPROVED = "NotApproved"
    HALTED = "Halted"
    STOPPED = "Stopped"
    OUT_OF_TIME = "OutOfTime"
    OUT_OF_BUDGET = "OutOfBudget"
    INTERRUPTED = "Interrupted"
    PARKED = "Parked"
    PROVIDER_ERROR = "ProviderError"
    PROVIDER_UNREACHABLE = "ProviderUnreachable"
    PROVIDER_REFUSED = "ProviderRefused"
    CONTEXT_OVERFLOW = "ContextOverflow"
    TOOLS_REFUSED = "ToolsRefused"
    PROVIDER_BUSY = "ProviderBusy"
    PROVIDER_LIMITED = "ProviderLimited"
    PROVIDER_GARBLED = "ProviderGarbled"
    PROVIDER_ENDLESS = "ProviderEndless"
    PROVIDER_TRUNCATED = "ProviderTruncated"
    PROVIDER_SILENT = "ProviderSilent"
    PROVIDER_SLOW = "ProviderSlow"
    SLOT_TAKEN = "SlotTaken"
    LOCAL_MODEL_BUSY = "LocalModelBusy"
    LOCAL_MODEL_CONFLICT = "LocalModelConflict"
    CONFIGURATION_ERROR = "ConfigurationError"
    UNKNOWN_PROVIDER = "UnknownProvider"
    PROVIDER_NOT_MADE = "ProviderNotMade"
    GOAL_FAILED = "GoalFailed"


class AgentError(Exception):
    """Raised for anything the engine can name."""

    kind: ClassVar[ErrorKind] = ErrorKind.AGENT_ERROR


class Recoverable(AgentError):
    """Raised for what the model can mend itself: it becomes an observation."""

    kind = ErrorKind.RECOVERABLE


class ParseError(Recoverable):
    """Raised when a reply does not follow the policy's format."""

    kind = ErrorKind.PARSE_ERROR


class ToolError(Recoverable):
    """Raised when an action cannot be carried out."""

    kind = ErrorKind.TOOL_ERROR


class ToolNotFound(ToolError):
    """Raised when an action names a tool that the toolkit does not hold."""

    kind = ErrorKind.TOOL_NOT_FOUND


class ToolSelectionError(ToolError):
    """Raised when no tool fits a plain-language action."""

    kind = ErrorKind.TOOL_SELECTION_ERROR


class InvalidInputs(ToolError):
    """Raised when an action's inputs do not fit the tool's schema."""

    kind = ErrorKind.INVALID_INPUTS


class ToolFailed(ToolError):
    """Raised by a tool that could not do what was asked."""

    kind = ErrorKind.TOOL_FAILED


class ToolTimeout(ToolError):
    """Raised when a tool ran past its time limit."""

    kind = ErrorKind.TOOL_TIMEOUT


class NotApproved(ToolError):
    """Raised when a person did not allow an action, or nobody could be asked."""

    kind = ErrorKind.NOT_APPROVED


class Halted(AgentError):
    """Raised to leave the loop at once, from wherever the run is."""

    kind = ErrorKind.HALTED


class Stopped(Halted):
    """Raised when the user asked the run to stop."""

    kind = ErrorKind.STOPPED


class OutOfTime(Halted):
    """Raised when the run's deadline has passed."""

    kind = ErrorKind.OUT_OF_TIME


class OutOfBudget(Halted):
    """Raised instead of a model call when the run's tokens or money are used up."""

    kind = ErrorKind.OUT_OF_BUDGET


class Interrupted(Halted):
    """Raised when this worker has to let go of the run; another one goes on with it."""

    kind = ErrorKind.INTERRUPTED


class Parked(Interrupted):
    """Raised when the run waits for a person and no worker need hold it."""

    kind = ErrorKind.PARKED


class ProviderError(AgentError):
    """Raised when a model call fails; `retry_after` is in seconds where the server named it.

    `may_pass` is set where a reply broke off half-way by a fault that may pass by itself: the step
    that asked for it may ask again, for nothing was acted on.
    """

    kind = ErrorKind.PROVIDER_ERROR
    may_pass = False

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProviderUnreachable(ProviderError):
    """Raised when no connection to the model server could be made."""

    kind = ErrorKind.PROVIDER_UNREACHABLE


class ProviderRefused(ProviderError):
    """Raised when the server rejects the request itself: key, model name, length, content."""

    kind = ErrorKind.PROVIDER_REFUSED


class ToolsRefused(ProviderRefused):
    """Raised when a model's server takes no tools in a request; it was told in vain, once."""

    kind = ErrorKind.TOOLS_REFUSED


class ContextOverflow(ProviderRefused):
    """Raised when a request is longer than its model takes: `length` tokens, where that is known.

    A shorter one may be answered.
    """

    kind = ErrorKind.CONTEXT_OVERFLOW

    def __init__(self, message: str, *, length: int | None = None) -> None:
        super().__init__(message)
        self.length = length


class ProviderBusy(ProviderError):
    """Raised when the server asks for patience (429) or is failing (5xx)."""

    kind = ErrorKind.PROVIDER_BUSY


class ProviderLimited(ProviderBusy):
    """Raised when the server asks all who call it to be patient (429)."""

    kind = ErrorKind.PROVIDER_LIMITED


class ProviderGarbled(ProviderError):
    """Raised when the server's answer is not what the protocol promises."""

    kind = ErrorKind.PROVIDER_GARBLED


class ProviderEndless(ProviderGarbled):
    """Raised when a reply is longer than any reply is; the model would say as much again."""

    kind = ErrorKind.PROVIDER_ENDLESS


class ProviderTruncated(ProviderError):
    """Raised when a reply ends before the server said that it is complete."""

    kind = ErrorKind.PROVIDER_TRUNCATED


class ProviderSilent(ProviderError):
    """Raised when the server sends nothing for longer than the idle limit."""

    kind = ErrorKind.PROVIDER_SILENT


class ProviderSlow(ProviderError):
    """Raised when one reply takes longer than a call may, though the server still sends."""

    kind = ErrorKind.PROVIDER_SLOW


class SlotTaken(ProviderBusy):
    """Raised when a call would have to wait for its slot and may not; `model` is what holds it."""

    kind = ErrorKind.SLOT_TAKEN

    def __init__(self, message: str, *, model: str = "") -> None:
        super().__init__(message)
        self.model = model


class LocalModelBusy(SlotTaken):
    """Raised when the local model that is wanted has a call under way."""

    kind = ErrorKind.LOCAL_MODEL_BUSY


class LocalModelConflict(SlotTaken):
    """Raised when another local model has a call under way: there is room for one at a time."""

    kind = ErrorKind.LOCAL_MODEL_CONFLICT


class ConfigurationError(AgentError):
    """Raised when a policy, a provider or a tool is set up in a way that cannot work."""

    kind = ErrorKind.CONFIGURATION_ERROR


class UnknownProvider(ConfigurationError):
    """Raised when a provider is asked for that there is none of."""

    kind = ErrorKind.UNKNOWN_PROVIDER


class ProviderNotMade(ConfigurationError):
    """Raised when a provider cannot be brought to life."""

    kind = ErrorKind.PROVIDER_NOT_MADE
