"""Find a place where a stranger's Python can do no harm, or say that there is none.

Fail closed: a sandbox is used only after it was seen, in this very process, to keep its inmate
from files, network, environment and writing outside, and from taking more memory than it may.
Code never runs on the host itself.
"""

import functools
import logging
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from agents.control import Control
from agents.errors import ConfigurationError
from agents.tools.sandbox.bubblewrap import Bubblewrap
from agents.tools.sandbox.monty import MontySandbox

logger = logging.getLogger(__name__)

_FINDING = threading.Lock()


class Sandbox(Protocol):
    """A way to run untrusted Python."""

    @property
    def name(self) -> str:
        """Return the name of the technique."""
        ...

    @property
    def provides(self) -> str:
        """Return in a sentence for the model what the code can use."""
        ...

    def run(self, code: str, control: Control) -> Iterator[str]:
        """Yield what the code prints, the value of a bare last expression too.

        Raises ToolFailed with the code's error, and Halted; the code is stopped then.
        """
        ...

    def prove(self) -> None:
        """Try to break out; raises ConfigurationError if that, or plain work, is not as it must."""
        ...


@dataclass(frozen=True)
class FoundSandbox:
    """The sandbox to use, None if none can be trusted; `reason` says why those before it failed."""

    sandbox: Sandbox | None
    reason: str


def find_sandbox() -> FoundSandbox:
    """Return the best sandbox that proves itself; tried once per process, in under a second."""
    with _FINDING:
        return _find_once()


def first_proved(sandboxes: Iterable[Sandbox]) -> FoundSandbox:
    """Return the first sandbox that proves itself."""
    failures: list[str] = []
    for sandbox in sandboxes:
        try:
            sandbox.prove()
        except ConfigurationError as error:
            failures.append(str(error))
        else:
            return FoundSandbox(sandbox, "; ".join(failures))
    return FoundSandbox(None, "; ".join(failures) or "no sandbox is installed")


@functools.cache
def _find_once() -> FoundSandbox:
    found = first_proved(_candidates())
    name = found.sandbox.name if found.sandbox else "none, so python_repl is not offered"
    logger.log(
        logging.WARNING if found.reason else logging.INFO,
        "Sandbox for Python: %s%s",
        name,
        f" ({found.reason})" if found.reason else "",
    )
    return found


def _candidates() -> Iterator[Sandbox]:
    yield from Bubblewrap.candidates()
    yield MontySandbox()
