"""The end of a web process: when its server has ended, so has the process, moments later.

A request whose middleware runs in a thread waits there for the loop, also when the loop has ended;
Python joins such threads at its exit and would stay for ever. What is stored is stored, and pages
come back with their cursors, so there is nothing to wait for.
"""

import os
import threading

GRACE_SECONDS = 5.0


def end_soon() -> None:
    """End the process after the grace, whatever still waits in it."""
    timer = threading.Timer(GRACE_SECONDS, os._exit, args=(0,))
    timer.daemon = True
    timer.start()
