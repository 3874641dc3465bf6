"""What the tests of tools share: calling a tool as a policy does, and the real sandboxes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import psutil
import pytest

from agents.contracts import Observation, ToolCall
from agents.control import Control
from agents.tools.sandbox import first_proved
from agents.tools.sandbox_bubblewrap import Bubblewrap
from agents.tools.sandbox_monty import MontySandbox
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit


class Seen(NamedTuple):
    """What a call showed while it ran, and what it left."""

    deltas: list[str]
    observation: Observation


@pytest.fixture
def observe() -> Callable[..., Seen]:
    """Call a tool through a toolkit: `observe(tool, {"x": 1})`, with a control if it matters."""

    def observe(
        tool: Tool, inputs: dict[str, Any] | None = None, control: Control | None = None
    ) -> Seen:
        call = ToolCall(tool=tool.name, inputs=inputs or {})
        events = Toolkit([tool]).call(call, control or Control())
        deltas = []
        while True:
            try:
                deltas.append(next(events).text)
            except StopIteration as end:
                return Seen(deltas, end.value)

    return observe


@pytest.fixture(scope="session")
def bubblewrap() -> Bubblewrap:
    """Return the real sandbox; where it cannot work, the tests say so rather than pass over it."""
    found = first_proved(Bubblewrap.candidates())
    assert isinstance(found.sandbox, Bubblewrap), f"install bubblewrap to test it: {found.reason}"
    return found.sandbox


@pytest.fixture
def inmates() -> Callable[[], list[psutil.Process]]:
    """List the processes of sandboxes that run now; one that waits to be reaped does not."""

    def inmates() -> list[psutil.Process]:
        children = psutil.Process().children(recursive=True)
        return [child for child in children if _is_sandbox(child)]

    return inmates


def _is_sandbox(process: psutil.Process) -> bool:
    try:
        return process.name() == "bwrap" and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="session")
def monty() -> MontySandbox:
    """Return the fallback."""
    return MontySandbox()
