"""Hostile code in the real bubblewrap harms nothing and ends."""

import os
import socket
import threading
from collections.abc import Callable, Iterator

import psutil
import pytest

from agents.control import Control
from agents.errors import OutOfTime, Stopped, ToolFailed
from agents.tools.sandbox.bubblewrap import Bubblewrap

Run = Callable[[str], str]
Inmates = Callable[[], list[psutil.Process]]


@pytest.fixture
def run(bubblewrap: Bubblewrap) -> Run:
    return lambda code: "".join(bubblewrap.run(code, Control(seconds=60)))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def test_code_prints_and_a_bare_last_expression_is_printed(run: Run) -> None:
    assert run("import sys\nprint('a')\nprint('b', file=sys.stderr)\nx = 6\nx * 7") == "a\nb\n42\n"


def test_output_comes_while_the_code_runs(bubblewrap: Bubblewrap) -> None:
    pieces = bubblewrap.run("import time\nprint('now')\ntime.sleep(600)", Control(seconds=60))

    assert next(pieces) == "now\n"
    pieces.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero (line 2: 1 / 0)"),
        ("def f():\n    raise ValueError('no')\nf()", "ValueError: no (line 2: raise ValueErr"),
        ("raise KeyError", "KeyError (line 1: raise KeyError)"),
        ("def f(:\n    pass", "SyntaxError: invalid syntax (line 1: def f(:)"),
        ("import sys\nsys.exit('gone')", "SystemExit: gone"),
        ("input()", "EOFError: EOF when reading a line (line 1: input())"),
        ("import numpy_is_not_here", "ModuleNotFoundError"),
        ("class E(Exception):\n    __str__ = None\nraise E", "E"),
        ("import os\nos._exit(7)", "the interpreter ended with status 7"),
        ("import ctypes\nctypes.string_at(0)", "the interpreter ended with status 139"),
        ("x = bytearray(10 ** 10)", "MemoryError (line 1"),
        ("x = []\nwhile True:\n    x.append('x' * 10 ** 6)", "MemoryError (line 3"),
        ("def f():\n    f()\nf()", "RecursionError"),
        ("x\x00y", "source code string cannot contain null bytes"),
    ],
)
def test_an_error_is_told_with_its_type_message_and_line(run: Run, code: str, error: str) -> None:
    with pytest.raises(ToolFailed) as raised:
        run(code)

    assert str(raised.value).startswith("Error executing code: ")
    assert error in str(raised.value)
    assert len(str(raised.value)) < 3_000


@pytest.mark.parametrize("code", ["import sys\nsys.exit()", "import sys\nsys.exit(0)", "None", ""])
def test_a_quiet_end_is_no_error(run: Run, code: str) -> None:
    assert run(code) == ""


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/home", "/var/log"),
        *("/usr/bin/env", "/usr/share/doc", "/bin/sh", "/proc/1/root/etc/passwd", __file__),
    ],
)
def test_files_of_the_host_are_not_there(run: Run, path: str) -> None:
    code = f"import os\ntry:\n    os.stat({path!r})\nexcept OSError:\n    print('closed')"

    assert run(code) == "closed\n"


def test_the_host_cannot_be_reached_by_loopback(run: Run, listener: socket.socket) -> None:
    port = listener.getsockname()[1]

    with pytest.raises(ToolFailed, match="Error: "):
        run(f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)")
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_no_address_outside_can_be_reached(run: Run) -> None:
    with pytest.raises(ToolFailed, match="OSError"):
        run("import socket\nsocket.create_connection(('192.0.2.1', 80), 2)")


def test_no_process_in_sight_shows_our_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "canary-in-the-environment")
    code = """
import glob, os
print(dict(os.environ))
for path in glob.glob("/proc/*/environ"):
    try:
        print(path, open(path).read())
    except OSError as error:
        print(path, error)
"""

    seen = run(code)

    assert "/proc/1/environ" in seen
    assert "canary" not in seen
    assert "DJANGO" not in seen


def test_only_its_own_processes_are_in_sight(run: Run) -> None:
    seen = run("import os\nprint(len([name for name in os.listdir('/proc') if name.isdigit()]))")

    assert int(seen) <= 3


@pytest.mark.parametrize("folder", ["/", "/usr/lib", "/etc", "/dev", "/proc", "/lib"])
def test_nothing_is_written_outside_the_work_folder(run: Run, folder: str) -> None:
    with pytest.raises(ToolFailed, match="Error: "):
        run(f"open({folder!r} + '/probe', 'w')")


def test_the_work_folder_is_empty_each_time(run: Run) -> None:
    code = (
        "import os, tempfile\nprint(os.listdir())\nopen('kept', 'w').write('x')\ntempfile.mkdtemp()"
    )

    assert run(code).startswith("[]\n/w/") or run(code).startswith("[]\n/tmp/")
    assert run(code).startswith("[]\n")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("open('big', 'wb').write(b'x' * 50_000_000)", "File too large"),
        (
            "for n in range(50):\n    open(str(n), 'wb').write(b'x' * 10_000_000)",
            "No space left on device",
        ),
        ("files = [open('x', 'w') for n in range(500)]", "Too many open files"),
    ],
)
def test_the_disk_is_bounded(run: Run, code: str, error: str) -> None:
    with pytest.raises(ToolFailed, match=error):
        run(code)


def test_a_fork_bomb_is_bounded(run: Run, inmates: Inmates, wait_for: Callable[..., None]) -> None:
    code = """
import os, time
made = 0
while True:
    try:
        if os.fork() == 0:
            time.sleep(600)
        made += 1
    except OSError:
        break
print(made)
"""

    assert 0 < int(run(code)) < 16
    wait_for(lambda: not inmates(), "the end of all its children")


def test_limits_cannot_be_raised(run: Run) -> None:
    for name in ("CPU", "AS", "FSIZE", "NPROC", "NOFILE", "CORE"):
        code = f"import resource as r\nr.setrlimit(r.RLIMIT_{name}, (-1, -1))"
        with pytest.raises(ToolFailed, match="not allowed to raise maximum limit"):
            run(code)


@pytest.mark.parametrize(
    "code",
    [
        "import os\ntry:\n    os.setuid(0)\nexcept OSError:\n    raise PermissionError",
        "import os\nos.chroot('/w')",
        "import ctypes, os\nif ctypes.CDLL(None).unshare(0x10000000):\n    raise PermissionError",
        "import ctypes\nif ctypes.CDLL(None).mount(b'/', b'/w', None, 4096, None):\n"
        "    raise PermissionError",
    ],
)
def test_no_power_can_be_gained(run: Run, code: str) -> None:
    with pytest.raises(ToolFailed, match="PermissionError"):
        run(code)


@pytest.mark.parametrize(
    "code",
    [
        "print('x' * 50_000_000)",
        "while True:\n    print('y' * 100)",
        "import os\nos.write(os.dup(1), b'z' * 10**8)",
    ],
)
def test_a_flood_of_output_ends(run: Run, code: str) -> None:
    with pytest.raises(ToolFailed, match="Error executing code: "):
        run(code)


def test_an_endless_loop_uses_up_its_processor_time(bubblewrap: Bubblewrap) -> None:
    quick = Bubblewrap(bubblewrap.python, cpu_seconds=1)

    with pytest.raises(ToolFailed, match="it used up its processor time"):
        list(quick.run("while True:\n    pass", Control()))


def test_a_sleeper_ends_with_the_calls_time(
    bubblewrap: Bubblewrap, inmates: Inmates, wait_for: Callable[..., None]
) -> None:
    with pytest.raises(OutOfTime):
        list(bubblewrap.run("import time\ntime.sleep(600)", Control(seconds=0.5)))
    wait_for(lambda: not inmates(), "the end of the sleeper")


@pytest.mark.parametrize(
    "code",
    [
        "print('up')\nwhile True:\n    pass",
        "import subprocess, sys\nprint('up')\n"
        "subprocess.run([sys.executable, '-c', 'while True: pass'])",
        "import os, signal, time\nfor n in (1, 2, 15):\n    signal.signal(n, signal.SIG_IGN)\n"
        "print('up')\nos.close(1)\nos.close(2)\ntime.sleep(600)",
    ],
)
def test_a_stop_kills_all_of_it(
    bubblewrap: Bubblewrap, inmates: Inmates, wait_for: Callable[..., None], code: str
) -> None:
    control = Control()
    pieces = bubblewrap.run(code, control)
    assert next(pieces) == "up\n"
    assert inmates()
    control.stop()

    with pytest.raises(Stopped):
        list(pieces)
    wait_for(lambda: not inmates(), "the end of all its processes")


def test_many_run_at_once(run: Run) -> None:
    results: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(run(f"{n} * {n}"))) for n in range(24)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(map(int, results)) == [n * n for n in range(24)]


def test_no_file_stays_open(run: Run) -> None:
    run("1")
    before = len(os.listdir("/proc/self/fd"))

    for code in ("1", "1 / 0", "print('x' * 20_000_000)"):
        try:
            run(code)
        except ToolFailed:
            continue

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_candidate_is_a_python_of_this_machine() -> None:
    pythons = [sandbox.python for sandbox in Bubblewrap.candidates()]

    assert pythons
    assert all(python.is_file() for python in pythons)
