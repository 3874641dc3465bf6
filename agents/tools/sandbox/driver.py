"""Run inside the sandbox: limit this process, then run the code that stands on standard input.

The sandbox's interpreter gets this file's text by `-c`. What the code prints goes to standard
output, its standard error too; the original standard error carries only what went wrong. The one
argument is the limit of processor time in seconds. It may run under an older Python than the rest,
and imports nothing of ours.
"""

import ast
import contextlib
import os
import resource
import sys
import traceback
import types

MEMORY_BYTES = 512 * 1024 * 1024
FILE_BYTES = 16 * 1024 * 1024
OPEN_FILES = 64
PROCESSES = 16

_NAME = "<code>"


def main() -> None:
    """Run the code and exit with 0, or with 1 after writing what went wrong."""
    report = os.dup(2)
    os.dup2(1, 2)
    with open(0, encoding="utf-8", errors="replace") as given:
        code = given.read()
    os.open(os.devnull, os.O_RDONLY)  # takes the place of standard input
    _limit(cpu_seconds=int(sys.argv[1]))
    sys.stdout.reconfigure(line_buffering=True, errors="replace")  # type: ignore[union-attr]
    try:
        _run(code)
        sys.stdout.flush()
    except SystemExit as error:
        if error.code not in (None, 0):
            _fail(report, f"SystemExit: {error.code}")
    except BaseException as error:
        _fail(report, _told(error, code))


def _limit(cpu_seconds: int) -> None:
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as order:
        order.write("1000")  # if the machine runs out of memory, this goes first
    for what, limit in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_NPROC, PROCESSES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (limit, limit))


def _run(code: str) -> None:
    """Execute the code as a main module; print the value of a bare expression at its end."""
    tree = ast.parse(code, _NAME)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, _NAME, "exec"), module.__dict__)  # noqa: S102 - this is the sandbox
    if isinstance(last, ast.Expr):
        expression = compile(ast.Expression(last.value), _NAME, "eval")
        value = eval(expression, module.__dict__)  # noqa: S307 - this is the sandbox
        if value is not None:
            print(value)


def _told(error: BaseException, code: str) -> str:
    """Write the error's type, message and line."""
    try:
        steps = traceback.extract_tb(error.__traceback__)
        number = next((step.lineno for step in reversed(steps) if step.filename == _NAME), 0) or 0
        message = str(error)
        if isinstance(error, SyntaxError) and error.filename == _NAME:
            number, message = error.lineno or 0, error.msg
        told = type(error).__name__ + (f": {message}" if message else "")
        shown = code.splitlines()[number - 1].strip() if number else ""
        return told[:2000] + (f" (line {number}: {shown[:200]})" if number else "")
    except BaseException:
        return type(error).__name__


def _fail(report: int, told: str) -> None:
    try:
        sys.stdout.flush()
    finally:
        os.write(report, told.encode("utf-8", "replace"))
        os._exit(1)


if __name__ == "__main__":
    main()
