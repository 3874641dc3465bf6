"""Every tool that a policy can name: a new one is one line in TOOLS."""

from collections.abc import Callable, Iterable

from agents.errors import ConfigurationError
from agents.tools.calculator import calculator
from agents.tools.convert_units import convert_units
from agents.tools.current_time import current_time
from agents.tools.python_repl import python_repl_tool
from agents.tools.sandbox import find_sandbox
from agents.tools.search_transcripts import FindTurns, FoundTurn, search_transcripts_tool
from agents.tools.spec import Tool
from agents.tools.toolkit import Toolkit

__all__ = ["TOOLS", "FindTurns", "FoundTurn", "not_offered", "offered", "toolkit"]


def toolkit(names: Iterable[str], *, find_turns: FindTurns) -> Toolkit:
    """Return these tools, without those that this machine cannot offer; see `not_offered`.

    `find_turns` looks into the past turns of the one user whose run it is. Raises
    ConfigurationError for a name that is no tool's, or given twice.
    """
    kit = Toolkit()
    for name in names:
        if name not in TOOLS:
            raise ConfigurationError(f"There is no tool {name!r}; there are {', '.join(TOOLS)}.")
        tool = TOOLS[name](find_turns)
        if tool is not None:
            kit.register(tool)
    return kit


def offered(find_turns: FindTurns) -> Toolkit:
    """Return all the tools that this machine can offer."""
    return toolkit(TOOLS, find_turns=find_turns)


def not_offered() -> dict[str, str]:
    """Return the tools that this machine cannot offer, each with the reason, for page and log."""
    found = find_sandbox()
    return {} if found.sandbox else {"python_repl": found.reason}


def _python_repl(_: FindTurns) -> Tool | None:
    sandbox = find_sandbox().sandbox
    return python_repl_tool(sandbox) if sandbox else None


TOOLS: dict[str, Callable[[FindTurns], Tool | None]] = {
    "calculator": lambda _: calculator,
    "convert_units": lambda _: convert_units,
    "current_time": lambda _: current_time,
    "python_repl": _python_repl,
    "search_transcripts": search_transcripts_tool,
}
"""A tool's name -> how it is built for one user's run; None where this machine cannot offer it."""
