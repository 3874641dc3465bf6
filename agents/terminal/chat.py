"""A chat at the terminal: one question a line, each told the exchanges before it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from agents.contracts import EndReason, Exchange, Outcome, Status
from agents.state import REMEMBERED
from agents.terminal.asking import Asking

PROMPT = "> "
_KEPT = 1_000
"""Lines of a file of earlier chats that can be gone back to."""


def chat(asking: Asking, first: str | None, file: Path | None) -> Outcome | None:
    """Ask line after line until the input ends; return how the last run ended, None for no run.

    Only what was answered is told to the next run, as in the page's chat. `file` keeps the lines
    from chat to chat.
    """
    history: list[Exchange] = []
    outcome = None
    for question in _questions(first, file):
        outcome = asking.ask(question, tuple(history[-REMEMBERED:]))
        if outcome.status is Status.SUCCEEDED:
            plan = asking.plan if outcome.reason is EndReason.ASKED else None
            history.append(Exchange(question=question, answer=outcome.answer, plan=plan))
        if asking.is_ended:
            break
    return outcome


def _questions(first: str | None, file: Path | None) -> Iterator[str]:
    lines = _typed(file) if sys.stdin.isatty() else iter(sys.stdin.readline, "")
    if first is not None and first.strip():
        yield first
    for line in lines:
        if line.strip():
            yield line.strip()


def _typed(file: Path | None) -> Iterator[str]:
    """Yield what a person types; Ctrl-C takes back the line, Ctrl-D ends the chat."""
    remember = _line_editing(file)
    while True:
        try:
            line = _line()
        except KeyboardInterrupt:
            print(file=sys.stderr)
            continue
        except EOFError:
            print(file=sys.stderr)
            return
        remember(line)
        yield line


def _line() -> str:
    if sys.stdout.isatty():
        return input(PROMPT)
    # What reads the output must not find the prompt in it.
    print(PROMPT, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _line_editing(file: Path | None) -> Callable[[str], None]:
    """Let lines be edited and gone back to; return what keeps one in the file."""
    # To import it changes how `input` reads, so who does not chat does without.
    with suppress(ImportError):
        import readline

        for line in _lines_in(file):
            readline.add_history(line)

    def remember(line: str) -> None:
        if file is not None and line.strip():
            # Questions may be private, whatever others may read in that folder.
            opened = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(opened, "a", encoding="utf-8") as kept:
                kept.write(f"{line.strip()}\n")

    return remember


def _lines_in(file: Path | None) -> list[str]:
    if file is None or not file.exists():
        return []
    return file.read_text(encoding="utf-8", errors="replace").splitlines()[-_KEPT:]
