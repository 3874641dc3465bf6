"""Searches of a person that are under way elsewhere."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from django.db import connection

from chat.models import User
from chat.search.limits import MAX_AT_ONCE, one_of_few


@contextmanager
def as_many_as_may_be(user: User, purpose: str) -> Iterator[None]:
    """Hold all places that the person has, in other processes' stead."""
    with ExitStack() as stack:
        for _ in range(MAX_AT_ONCE):
            stack.enter_context(_one(user, purpose))
        yield


@contextmanager
def _one(user: User, purpose: str) -> Iterator[None]:
    """Hold a place by a connection of its own."""
    has_begun, may_end = threading.Event(), threading.Event()

    def search() -> None:
        with one_of_few(user, purpose):
            has_begun.set()
            may_end.wait(60)
        connection.close()

    thread = threading.Thread(target=search)
    thread.start()
    assert has_begun.wait(20)
    try:
        yield
    finally:
        may_end.set()
        thread.join()
