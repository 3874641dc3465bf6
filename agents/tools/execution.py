"""Run one tool call in a thread of its own, so that a tool that hangs never hangs its run.

A thread cannot be killed: one that does not heed its Control is abandoned, and holds one of a
bounded number of places until it ends.
"""

import logging
import threading
from collections.abc import Generator
from contextvars import copy_context
from typing import Any

from agents.contracts import Image
from agents.control import Control
from agents.errors import AgentError, OutOfTime, ToolFailed, ToolTimeout
from agents.tools.attachments import Extras
from agents.tools.output import Output
from agents.tools.spec import Tool
from agents.tools.typed.results import pieces_of
from agents.waiting import SLICE, until

logger = logging.getLogger(__name__)

_PLACES = threading.BoundedSemaphore(256)
_MAX_IMAGES = 4
_IMAGE_LENGTH = 1_500_000
"""Characters of one image in base64."""

_MESSAGE_LIMIT = 1_000


def execute(
    tool: Tool, inputs: dict[str, Any], control: Control
) -> Generator[str | Image, None, None]:
    """Yield the tool's output piece by piece, clamped, with a few images of bounded size.

    The tool gets a Control of its own, which ends with the tool's timeout, with the run, or when
    nobody reads on. Raises ToolError for what went wrong, after the output so far, and Halted
    within moments of the run's halt.
    """
    own = Control(min(tool.timeout, control.remaining()), control.idle_seconds)
    job = _Job(tool, inputs, own)
    try:
        _start(job, control, own)
        while not job.is_over and own.remaining() > 0:
            yield from job.get(SLICE)
            control.check()
        yield from job.get(0)
        if rest := job.rest():
            yield rest
        if error := job.failure():
            control.check()
            raise error
    finally:
        own.stop()


def _start(job: "_Job", control: Control, own: Control) -> None:
    if not until(
        lambda seconds: _PLACES.acquire(timeout=seconds), control, seconds=own.remaining()
    ):
        raise ToolFailed("Too many tools are running; try again later.")
    try:
        threading.Thread(
            target=copy_context().run, args=(job.run,), name=f"tool-{job.tool.name}", daemon=True
        ).start()
    except RuntimeError as error:
        _PLACES.release()
        raise ToolFailed("This machine cannot start another tool now; try again later.") from error


class _Job:
    """One call: written by the tool's thread, read by the run's."""

    def __init__(self, tool: Tool, inputs: dict[str, Any], control: Control) -> None:
        self.tool = tool
        self.is_over = False
        self._inputs = inputs | ({"control": control} if tool.wants_control else {})
        self._inputs |= {"extras": Extras()} if tool.wants_extras else {}
        self._control = control
        self._changed = threading.Condition()
        self._pieces: list[str | Image] = []
        self._images = 0
        self._output = Output()
        self._error: BaseException | None = None
        self._is_complete = False

    def run(self) -> None:
        """Run the tool to its end; what it raises is kept, not raised."""
        try:
            self._run()
            self._is_complete = True
        except (Exception, SystemExit) as error:
            self._error = error
            if isinstance(error, self.tool.reveals):
                logger.info("The tool %r raised %s", self.tool.name, type(error).__name__)
            elif not isinstance(error, AgentError):
                logger.exception("The tool %r failed", self.tool.name)
        finally:
            _PLACES.release()
            with self._changed:
                self.is_over = True
                self._changed.notify()

    def get(self, seconds: float) -> list[str | Image]:
        """Return the pieces since the last call, waiting at most `seconds` for the first."""
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or self.is_over, seconds)
            pieces, self._pieces = self._pieces, []
        return pieces

    def rest(self) -> str:
        """Return the output beyond the pieces."""
        with self._changed:
            return self._output.rest()

    def failure(self) -> AgentError | None:
        """Return what went wrong, in words for the model; None if nothing did."""
        name, error = self.tool.name, self._error
        if not self.is_over or isinstance(error, OutOfTime):
            return ToolTimeout(f"{name} ran longer than {self.tool.timeout:g} s and was stopped.")
        if self._is_complete or isinstance(error, AgentError):
            return error if isinstance(error, AgentError) else None
        kind = type(error).__name__
        if isinstance(error, self.tool.reveals):
            return ToolFailed(f"{kind}: {_message(error)}".removesuffix(": ")[:_MESSAGE_LIMIT])
        # The message of an unknown error may hold paths or secrets: the log has it, the model not.
        return ToolFailed(f"UnexpectedError: {name} broke ({kind}); the details are in the log.")

    def _run(self) -> None:
        result = self.tool.run(**self._inputs)
        if result is None and self.tool.terminal:
            return
        pieces = pieces_of(result, self._control)
        try:
            for piece in pieces:
                self._control.check()
                self._add(piece)
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    def _add(self, piece: str | Image) -> None:
        with self._changed:
            if isinstance(piece, Image):
                if self._images < _MAX_IMAGES and len(piece.data) <= _IMAGE_LENGTH:
                    self._images += 1
                    self._pieces.append(piece)
            elif head := self._output.add(piece):
                self._pieces.append(head)
                self._changed.notify()


def _message(error: BaseException) -> str:
    """Return what an exception says; of a KeyError the key as it was given."""
    is_bare = isinstance(error, KeyError) and len(error.args) == 1
    return str(error.args[0] if is_bare else error)
