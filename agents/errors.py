"""The engine's one small tree of errors.

`Recoverable` goes to the model as an observation and the run goes on; every other error ends the
run, and its message is written for the person who can mend it.
"""


class AgentError(Exception):
    """Raised for anything the engine can name."""


class Recoverable(AgentError):
    """Raised for what the model can mend itself: it becomes an observation."""


class ParseError(Recoverable):
    """Raised when a reply does not follow the policy's format."""


class ToolError(Recoverable):
    """Raised when an action cannot be carried out."""


class ToolNotFound(ToolError):
    """Raised when an action names a tool that the toolkit does not hold."""


class ToolSelectionError(ToolError):
    """Raised when no tool fits a plain-language action."""


class InvalidInputs(ToolError):
    """Raised when an action's inputs do not fit the tool's schema."""


class ToolFailed(ToolError):
    """Raised by a tool that could not do what was asked."""


class ToolTimeout(ToolError):
    """Raised when a tool ran past its time limit."""


class NotApproved(ToolError):
    """Raised when a person did not allow an action, or nobody could be asked."""


class Halted(AgentError):
    """Raised to leave the loop at once, from wherever the run is."""


class Stopped(Halted):
    """Raised when the user asked the run to stop."""


class OutOfTime(Halted):
    """Raised when the run's deadline has passed."""


class OutOfBudget(Halted):
    """Raised instead of a model call when the run's tokens or money are used up."""


class Interrupted(Halted):
    """Raised when this worker has to let go of the run; another one goes on with it."""


class Parked(Interrupted):
    """Raised when the run waits for a person and no worker need hold it."""


class ProviderError(AgentError):
    """Raised when a model call fails; `retry_after` is in seconds where the server named it."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProviderUnreachable(ProviderError):
    """Raised when no connection to the model server could be made."""


class ProviderRefused(ProviderError):
    """Raised when the server rejects the request itself: key, model name, length, content."""


class ProviderBusy(ProviderError):
    """Raised when the server asks for patience (429) or is failing (5xx)."""


class ProviderLimited(ProviderBusy):
    """Raised when the server asks all who call it to be patient (429)."""


class ProviderGarbled(ProviderError):
    """Raised when the server's answer is not what the protocol promises."""


class ProviderTruncated(ProviderError):
    """Raised when a reply ends before the server said that it is complete."""


class ProviderSilent(ProviderError):
    """Raised when the server sends nothing for longer than the idle limit."""


class ProviderSlow(ProviderError):
    """Raised when one reply takes longer than a call may, though the server still sends."""


class SlotTaken(ProviderBusy):
    """Raised when a call would have to wait for its slot and may not; `model` is what holds it."""

    def __init__(self, message: str, *, model: str = "") -> None:
        super().__init__(message)
        self.model = model


class LocalModelBusy(SlotTaken):
    """Raised when the local model that is wanted has a call under way."""


class LocalModelConflict(SlotTaken):
    """Raised when another local model has a call under way: there is room for one at a time."""


class ConfigurationError(AgentError):
    """Raised when a policy, a provider or a tool is set up in a way that cannot work."""


class UnknownProvider(ConfigurationError):
    """Raised when a provider is asked for that there is none of."""


class ProviderNotMade(ConfigurationError):
    """Raised when a provider cannot be brought to life."""
