"""Read a sandboxed process to its end, and end it as soon as nobody wants it any more."""

import codecs
import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Generator, Iterator

from agents.control import Control
from agents.errors import ToolFailed
from agents.tools.sandbox.memory import Watch
from agents.waiting import sliced

_OUTPUT_BYTES = 10_000_000
_REPORT_BYTES = 8_192
_CHUNK = 65_536
_LOOK_SECONDS = 0.05
"""Seconds between two looks at the control and at what the process takes."""

_EAGER_CHUNKS = 16
"""Chunks that are passed on at once; many more small ones would cost more than they tell."""

_LULL = 0.02


def outcome(process: subprocess.Popen[bytes], control: Control, watch: Watch) -> Iterator[str]:
    """Yield the process's standard output; then raise ToolFailed if it did not end well.

    Its standard error says why, or the watch over its memory. Raises Halted, too; whatever happens,
    the process and its group are gone at the end.
    """
    try:
        report = yield from _output(process, control, watch)
        status = _status(process, control, watch)
    finally:
        _end(process)
    if status:
        raise ToolFailed(f"Error executing code: {_reason(status, report)}")


def _output(
    process: subprocess.Popen[bytes], control: Control, watch: Watch
) -> Generator[str, None, bytes]:
    flow, report = _Flow(), b""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with selectors.DefaultSelector() as selector:
        for stream in filter(None, (process.stdout, process.stderr)):
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            control.wait(flow.lull)
            watch.look()
            for key, _ in selector.select(_LOOK_SECONDS):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                    continue
                flow.count(chunk)
                if key.fileobj is process.stderr:
                    report = (report + chunk)[:_REPORT_BYTES]
                elif text := decoder.decode(chunk):
                    yield text
    return report


class _Flow:
    """Measure what comes, slow down on crumbs, and refuse a flood."""

    def __init__(self) -> None:
        self.lull = 0.0
        self._bytes = 0
        self._chunks = 0

    def count(self, chunk: bytes) -> None:
        """Take note of a chunk; `lull` is then the seconds to let more of them gather."""
        self._bytes += len(chunk)
        self._chunks += 1
        if self._bytes > _OUTPUT_BYTES:
            raise ToolFailed(f"Error executing code: it printed over {_OUTPUT_BYTES:,} bytes.")
        self.lull = _LULL if self._chunks > _EAGER_CHUNKS and len(chunk) < _CHUNK else 0.0


def _status(process: subprocess.Popen[bytes], control: Control, watch: Watch) -> int:
    def ended(seconds: float) -> int:
        watch.look()
        return process.wait(seconds)

    return sliced(ended, control, subprocess.TimeoutExpired, each=_LOOK_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for stream in filter(None, (process.stdout, process.stderr)):
        stream.close()
    process.wait()


def _reason(status: int, report: bytes) -> str:
    """Return why a process ended with `status`; a shell's code for a signal is 128 more."""
    if told := report.decode("utf-8", "replace").strip():
        return told
    number = status - 128 if status > 128 else -status
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return "it used up its processor time and was stopped."
    return f"the interpreter ended with status {status} and said nothing."
