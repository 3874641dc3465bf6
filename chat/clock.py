"""The one clock by which times are stored: the database's.

Clocks of machines differ, and any of them may be set while a run works; then a duration between two
of them may come out hours wrong, or below nothing.
"""

import time
from datetime import datetime, timedelta


class Clock:
    """Tell the database's time of day by the process's own steady clock, which nobody sets.

    `now` is what the database has just said.
    """

    def __init__(self, now: datetime) -> None:
        self._began = now
        self._steady = time.monotonic()

    def now(self) -> datetime:
        """Return the time of day."""
        return self._began + timedelta(seconds=time.monotonic() - self._steady)
