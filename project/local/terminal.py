"""What the launcher prints: every process' lines in one column, and the words at the start."""

import select
import sys
import threading
from collections.abc import Callable

from project.ops.printable import printable

COLOURS = {"web": 36, "worker": 35, "postgres": 34, "valkey": 33, "model": 32}
WIDTH = 8


class Terminal:
    """Print whole lines from any thread; `when_gone` is called once nobody reads them any more."""

    def __init__(self, when_gone: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._when_gone = when_gone
        self._gone = False
        self._colourful = sys.stdout.isatty()

    def say(self, name: str, line: str) -> None:
        """Print a line of a process, unless it is blank; what it holds is text and nothing else."""
        if not line.strip():
            return
        mark = f"{name:<{WIDTH}} |"
        if self._colourful:
            mark = f"\x1b[{COLOURS.get(name, 37)}m{mark}\x1b[0m"
        self.tell(f"{mark} {printable(line)}")

    def notice(self) -> None:
        """Look whether somebody still reads, which a quiet time would not show."""
        readers = select.poll()
        readers.register(sys.stdout, 0)
        if readers.poll(0):
            self._when_gone()

    def tell(self, text: str) -> None:
        """Print a text as it is."""
        with self._lock:
            if self._gone:
                return
            try:
                print(text, flush=True)
            except OSError:
                self._gone = True
        if self._gone:
            self._when_gone()
