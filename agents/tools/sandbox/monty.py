"""Run a stranger's Python in Monty, an interpreter that has no files, network or processes.

It knows a part of the language and of the standard library, so it stands in only where bubblewrap
cannot be used. Each run gets a worker process of a small pool; its limits are Monty's own.
"""

import ast
import atexit
import functools
import threading
from collections.abc import Iterator

from pydantic_monty import (
    CollectString,
    Monty,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    ResourceLimits,
)

from agents.control import Control
from agents.errors import AgentError, ConfigurationError, ToolFailed

_SECONDS = 5.0
"""The longest that any run may take."""

_WORKERS = 4
_OUTPUT_BYTES = 10_000_000
_MEMORY_BYTES = 256 * 1024 * 1024
_MUST_FAIL = (
    "open('/etc/passwd').read()",
    "open('probe', 'w').write('x')",
    "import os\nos.listdir('/')",
    "import os\nos.environ['PATH']",
    "import os\nos.getenv('PATH')",
    "import os\nos.system('true')",
    "import socket",
    "import subprocess",
    "import ctypes",
)
_STARTING = threading.Lock()


class MontySandbox:
    """A sandbox by interpreter, `seconds` for each run.

    After a stop the caller is free at once, the code ends within its time.
    """

    name = "monty"
    provides = (
        "Only a part of Python is there, with math, json, re, datetime, decimal, random, itertools "
        "and collections; no network, no files, no packages."
    )

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._limits = ResourceLimits(
            max_feed_duration_secs=min(seconds, _SECONDS),
            max_total_sleep_secs=min(seconds, _SECONDS),
            max_memory=_MEMORY_BYTES,
        )

    def run(self, code: str, control: Control) -> Iterator[str]:
        """Yield what the code printed, when it has ended; raises ToolFailed, and Halted."""
        control.check()
        printed = CollectString(max_bytes=_OUTPUT_BYTES)
        failure = ""
        try:
            with _started_pool().checkout(limits=self._limits, script_name="<code>") as session:
                session.feed_run(_printing_last(code), print_callback=printed)
        except TimeoutError as error:
            raise ToolFailed("Too many snippets are running; try again later.") from error
        except MontyError as error:
            failure = _told(error)
        control.check()
        yield printed.output
        if failure:
            raise ToolFailed(f"Error executing code: {failure}")

    def prove(self) -> None:
        """Try to break out; raises ConfigurationError naming what was not closed."""
        control = Control(seconds=30)
        try:
            works = "".join(self.run("6 * 7", control)).strip() == "42"
        except (AgentError, OSError, RuntimeError) as error:
            raise ConfigurationError(f"monty does not work here ({error})") from error
        is_open = [way for way in _MUST_FAIL if _succeeds(self, way, control)]
        if is_open or not works:
            raise ConfigurationError(f"monty is not tight here ({is_open or 'wrong result'})")


@functools.cache
def _pool() -> Monty:
    pool = Monty(
        max_processes=_WORKERS, checkout_timeout=10, request_timeout=_SECONDS + 2
    ).__enter__()
    atexit.register(pool.__exit__, None, None, None)
    return pool


def _started_pool() -> Monty:
    with _STARTING:
        return _pool()


def _printing_last(code: str) -> str:
    """Return the code with a bare expression at its end printed, on the same line if it can be."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code  # the sandbox says what is wrong with it
    last = tree.body.pop() if tree.body else None
    if not isinstance(last, ast.Expr):
        return code
    lines = code.replace("\r\n", "\n").split("\n")[: last.lineno - 1]
    before = ast.unparse(tree) if last.col_offset else "\n".join(lines)
    shown = f"_value = {ast.unparse(last.value)}\nif _value is not None:\n    print(_value)"
    return f"{before}\n{shown}" if before or lines else shown


def _told(error: MontyError) -> str:
    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return str(error)
    frames = error.traceback()
    line = f" (line {frames[0].line})" if frames else ""
    return error.display("type-msg")[:2000] + line


def _succeeds(sandbox: MontySandbox, code: str, control: Control) -> bool:
    try:
        "".join(sandbox.run(code, control))
    except ToolFailed:
        return False
    return True
