"""Things that a process has one of, made when first asked for."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class once(Generic[Thing]):
    """Make a function return one thing a process, also when several threads are the first to ask.

    A second one would do harm when it goes: a Redis client closes its connections, of which one may
    be in use.
    """

    def __init__(self, make: Callable[[], Thing]) -> None:
        self._make = make
        self._made: list[Thing] = []
        self._lock = threading.Lock()
        self.__doc__ = make.__doc__

    def __call__(self) -> Thing:
        """Return the thing."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

    def cache_clear(self) -> None:
        """Have another one made at the next call."""
        self._made = []
