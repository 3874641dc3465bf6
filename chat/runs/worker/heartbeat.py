"""One thread a worker process that looks after all its runs.

Four times a second it reads, in one query, which of its runs shall stop; every few seconds it
renews their leases in one statement, and says that the worker lives. What nobody holds is looked
after by `chat.runs.worker.reaper`.
"""

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from agents.control import Control
from chat.models import Run, RunStatus
from chat.runs.db_retry import release_connection
from chat.runs.lease import renew
from chat.runs.worker import alive

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
RENEW_SECONDS = min(5.0, settings.LEASE_SECONDS / 6)
GOODBYE_SECONDS = 1.0
"""How long a worker that leaves waits until its sign of life is taken back; else it runs out."""


class Watch:
    """The runs that this process works on, and the thread that watches over them."""

    def __init__(self) -> None:
        self.worker = f"{socket.gethostname()[:60]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.is_leaving = False
        self._left_at: float | None = None
        self._held: dict[tuple[int, int], Control] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stays = False
        self._renewed = 0.0
        self._has_said_goodbye = threading.Event()

    def start(self) -> None:
        """Watch from now on, whether this process has a run or not."""
        self._stays = True
        with self._lock:
            self._ensure_thread()

    def close(self) -> None:
        """Watch no longer than this process has a run; it has been told to leave before."""
        if self._stays:
            self.wait_for_goodbye()
        self._stays = False

    def leave(self) -> None:
        """Claim no more, and have every run let go of; safe in a signal handler.

        Each run ends the step it is in, or is cut off when TURNSTONE_GRACE_SECONDS are over.
        """
        self._left_at = self._left_at or time.monotonic()
        self.is_leaving = True
        for control in list(self._held.values()):
            control.leave()

    def wait_for_goodbye(self) -> None:
        """Wait, not for long, until nobody counts on this worker any more."""
        self._has_said_goodbye.wait(GOODBYE_SECONDS)

    @contextmanager
    def over(self, run: Run, control: Control) -> Iterator[None]:
        """Watch over a claimed run: renew its lease, and pass a wish to stop on to `control`."""
        key = (run.pk, run.attempt)
        with self._lock:
            self._held[key] = control
            self._ensure_thread()
        if run.stop_requested_at is not None:
            control.stop()
        if self.is_leaving:
            control.leave()
        try:
            yield
        finally:
            del self._held[key]

    def _ensure_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="watch", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while self._goes_on():
            try:
                self._look()
            except (DatabaseError, InterfaceError) as error:
                logger.warning("The heartbeat cannot reach Postgres: %s", error)
            except Exception:
                # The thread serves every run of the process: whatever happens, it goes on.
                logger.exception("The heartbeat failed")
            finally:
                release_connection()
            time.sleep(LOOK_SECONDS)

    def _cut_off(self, held: Iterable[Control]) -> None:
        """Let go of what has not come to an end since this worker was told to leave."""
        if self._left_at is not None and time.monotonic() - self._left_at >= settings.GRACE_SECONDS:
            for control in held:
                control.interrupt()

    def _goes_on(self) -> bool:
        with self._lock:
            if not (self._stays or self._held):
                self._thread = None
            return self._thread is not None

    def _look(self) -> None:
        held = dict(self._held)
        try:
            if held:
                _pass_on(held)
        finally:
            # After the wishes, for of stop and interrupt the first one wins.
            self._cut_off(held.values())
        if time.monotonic() - self._renewed >= RENEW_SECONDS:
            renew({run_id for run_id, _ in held}, self.worker)
            if self._stays and not self.is_leaving:
                alive.show(self.worker)
            self._renewed = time.monotonic()
        if self.is_leaving and not self._has_said_goodbye.is_set():
            alive.take_back(self.worker)
            self._has_said_goodbye.set()


def _pass_on(held: dict[tuple[int, int], Control]) -> None:
    """Stop the runs whose user asked for it, and let go of those that went on elsewhere."""
    running = Run.objects.filter(
        pk__in={run_id for run_id, _ in held}, status=RunStatus.RUNNING
    ).values_list("pk", "attempt", "stop_requested_at")
    wishes = {(run_id, attempt): stop for run_id, attempt, stop in running}
    for key, control in held.items():
        if key not in wishes:
            control.interrupt()
        elif wishes[key] is not None:
            control.stop()
