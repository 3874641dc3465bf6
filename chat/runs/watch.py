"""One thread a worker process that looks after all its runs, and after those that nobody holds.

Twice a second it reads, in one query, which of its runs shall stop; every few seconds it renews
their leases in one statement and puts runs that were orphaned or forgotten back to work.
"""

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from django.db import DatabaseError, InterfaceError

from agents.control import Control
from chat.models import Run, RunStatus
from chat.runs.lease import overdue, release_expired, renew
from chat.runs.patience import hand_back
from chat.runs.wake import wake

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
RENEW_SECONDS = 5.0


class Watch:
    """The runs that this process works on, and the thread that watches over them."""

    def __init__(self) -> None:
        self.worker = f"{socket.gethostname()[:60]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.is_leaving = False
        self._held: dict[tuple[int, int], Control] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stays = False
        self._renewed = 0.0

    def start(self) -> None:
        """Watch from now on, whether this process has a run or not."""
        self._stays = True
        with self._lock:
            self._ensure_thread()

    def leave(self) -> None:
        """Have every run let go and claim no more; safe in a signal handler."""
        self.is_leaving = True

    @contextmanager
    def over(self, run: Run, control: Control) -> Iterator[None]:
        """Watch over a claimed run: renew its lease, and pass a wish to stop on to `control`."""
        key = (run.pk, run.attempt)
        with self._lock:
            self._held[key] = control
            self._ensure_thread()
        if run.stop_requested_at is not None:
            control.stop()
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
                logger.warning("The watch cannot reach Postgres: %s", error)
            except Exception:
                # The thread serves every run of the process: whatever happens, it goes on.
                logger.exception("The watch stumbled")
            finally:
                hand_back()
            time.sleep(LOOK_SECONDS)

    def _goes_on(self) -> bool:
        with self._lock:
            if not (self._stays or self._held):
                self._thread = None
            return self._thread is not None

    def _look(self) -> None:
        held = dict(self._held)
        if self.is_leaving:
            for control in held.values():
                control.interrupt()
        if time.monotonic() - self._renewed >= RENEW_SECONDS:
            self._renewed = time.monotonic()
            renew({run_id for run_id, _ in held}, self.worker)
            put_back_to_work()
        if held:
            _pass_on(held)


def put_back_to_work() -> None:
    """Wake workers for the runs whose worker is gone and for those that wait too long."""
    release_expired()
    for run_id in overdue():
        wake(run_id)


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


@cache
def watch() -> Watch:
    """Return this process's watch."""
    return Watch()
