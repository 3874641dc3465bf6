"""The worker of the tests' own process: each test that asks for it has another one."""

import threading

from chat.runs.worker.worker import Worker

_made: list[Worker] = []
_making = threading.Lock()


def here() -> Worker:
    """Return this test's worker, which works on what it is told to and looks after nothing else."""
    with _making:
        if not _made:
            _made.append(Worker())
        return _made[0]


def close_here() -> None:
    """Close this test's worker; who asks for it then gets another one."""
    with _making:
        if _made:
            _made.pop().close()
