"""What sandboxed code takes is bounded in all, by whatever way it takes it."""

import os
import subprocess
import threading
from collections.abc import Callable

import pytest

from agents.control import Control
from agents.errors import ToolFailed
from agents.tools.sandbox.bubblewrap import Bubblewrap
from agents.tools.sandbox.memory import _with_children

Run = Callable[[str], str]

TOTAL = 96 * 1024 * 1024

MANY_PROCESSES = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = b"x" * 16_000_000
        time.sleep(60)
time.sleep(60)
"""
MANY_FILES = """
import itertools
for number in itertools.count():
    open(str(number), "w").close()
"""
FULL_FILES = """
import os, time
for number in range(5):
    open(str(number), "wb").write(b"x" * 12_000_000)
held = b"x" * 60_000_000
time.sleep(60)
"""
HIDDEN = """
import ctypes
PR_SET_DUMPABLE = 4
ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
"""
ORPHANS = """
import os, time
if os.fork() == 0:
    os.setsid()
    for _ in range(8):
        if os.fork() == 0:
            held = b"x" * 16_000_000
            time.sleep(60)
    os._exit(0)
time.sleep(60)
"""


@pytest.fixture
def small(bubblewrap: Bubblewrap) -> Run:
    """Run code where all of it may take no more than the small total."""
    sandbox = Bubblewrap(bubblewrap.python, total_bytes=TOTAL)
    return lambda code: "".join(sandbox.run(code, Control(seconds=60)))


@pytest.mark.parametrize(
    "code",
    [MANY_PROCESSES, MANY_FILES, FULL_FILES, HIDDEN + MANY_PROCESSES, ORPHANS],
    ids=["processes", "files", "full files", "processes that hide", "orphans"],
)
def test_many_that_are_small_are_stopped_when_they_are_too_much_together(
    small: Run, inmates: Callable[[], list[object]], wait_for: Callable[..., None], code: str
) -> None:
    with pytest.raises(ToolFailed, match="together took more than 96 MB of memory"):
        small(code)
    wait_for(lambda: not inmates(), "the end of all its processes")


def test_memory_that_forks_share_is_counted_once(small: Run) -> None:
    code = """
import os, time
held = b"x" * 40_000_000
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        time.sleep(0.3)
        os._exit(0)
    children.append(child)
print(sum(os.waitpid(child, 0)[1] for child in children))
"""

    assert small(code) == "0\n"


def test_what_a_snippet_may_take_without_a_limit_of_its_own_is_under_a_gigabyte(
    bubblewrap: Bubblewrap,
) -> None:
    assert bubblewrap.total_bytes < 10**9


def test_threads_subprocesses_and_forks_still_work(bubblewrap: Bubblewrap) -> None:
    code = """
import asyncio, multiprocessing, socket, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

print(sum(ThreadPoolExecutor(8).map(abs, range(100))))
print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True).stdout)
child = multiprocessing.Process(target=print, args=("from a process",))
child.start()
child.join()
print(asyncio.run(asyncio.sleep(0, "from a coroutine")))
with socket.create_server(("127.0.0.1", 0)) as server:
    print(socket.create_connection(server.getsockname()).getpeername() == server.getsockname())
print([end.fileno() > 0 for end in socket.socketpair()])
"""

    told = "".join(bubblewrap.run(code, Control(seconds=60)))

    assert told.splitlines() == [
        "4950",
        "b'42\\n'",
        "from a process",
        "from a coroutine",
        "True",
        "[True, True]",
    ]


def test_processes_that_end_while_they_are_looked_at_break_nothing() -> None:
    def spawn() -> None:
        for _ in range(300):
            subprocess.run(["sh", "-c", "true & true & wait"], check=True)

    spawning = threading.Thread(target=spawn)
    spawning.start()
    while spawning.is_alive():
        assert os.getpid() in list(_with_children(os.getpid()))
    spawning.join()
