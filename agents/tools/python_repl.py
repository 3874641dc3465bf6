"""A tool that runs a Python snippet in a sandbox."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from agents.control import Control
from agents.errors import ToolFailed
from agents.text import unfenced
from agents.tools.sandbox.choice import Sandbox
from agents.tools.spec import Safety, Tool, tool

_LENGTH = 100_000


def python_repl_tool(sandbox: Sandbox) -> Tool:
    """Return the tool that runs its code in `sandbox`."""

    @tool(timeout=20, safety=Safety.MODERATE, doing="Running Python", may_repeat=True)
    def python_repl(
        code: Annotated[str, Field(description="complete Python source; nothing is kept between")],
        control: Control,
    ) -> Iterator[str]:
        """Run a Python code snippet, a program or script, and return what it prints.

        Good for loops, text, lists, dates and longer calculations. The value of a bare expression
        on the last line is printed too.
        """
        source = unfenced(code)
        if not source.strip():
            raise ToolFailed("There is no code to run: the input is empty.")
        if len(source) > _LENGTH:
            raise ToolFailed(f"The code is longer than {_LENGTH:,} characters.")
        is_silent = True
        for text in sandbox.run(source, control):
            is_silent = is_silent and not text.strip()
            yield text
        if is_silent:
            yield "Code executed successfully."

    return replace(python_repl, description=f"{python_repl.description} {sandbox.provides}")
