"""That searches of one person do not take what the others need."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from django.db import connection
from django.test import Client

from agents.errors import ToolFailed
from chat.models import Run, User
from chat.transcripts.limits import MOST_AT_ONCE, one_of_few
from chat.transcripts.recall import find_turns

pytestmark = pytest.mark.django_db(transaction=True)

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


@contextmanager
def under_way(user: User, purpose: str) -> Iterator[None]:
    """Hold a place in another process's stead: in a thread with a connection of its own."""
    has_begun, may_end = threading.Event(), threading.Event()

    def search() -> None:
        with one_of_few(user, purpose):
            has_begun.set()
            may_end.wait(60)
        connection.close()

    thread = threading.Thread(target=search)
    thread.start()
    assert has_begun.wait(20)
    yield
    may_end.set()
    thread.join()


@pytest.fixture
def two_under_way(ada: User) -> Callable[[str], ExitStack]:
    """Begin as many searches of Ada's as she may have: `with two_under_way("search"): ...`."""

    def begin(purpose: str) -> ExitStack:
        stack = ExitStack()
        for _ in range(MOST_AT_ONCE):
            stack.enter_context(under_way(ada, purpose))
        return stack

    return begin


def test_a_third_search_of_a_person_is_refused_in_words_until_one_has_ended(
    ada: User, browse: Browse, two_under_way: Callable[[str], ExitStack]
) -> None:
    client = browse(ada)
    with two_under_way("search"):
        refused = client.get("/search/", {"q": "needle"})
        later = client.get("/search/", {"q": "needle"}, headers={"HX-Request": "true"})
    answered = client.get("/search/", {"q": "needle"})

    assert refused.status_code == 429
    assert "Two of your searches are still under way." in refused.content.decode()
    assert later.status_code == 200
    assert 'hx-get="/search/?q=needle" hx-trigger="load delay:1s"' in later.content.decode()
    assert answered.status_code == 200


def test_the_searches_of_one_person_are_nothing_to_another(
    bob: User, browse: Browse, two_under_way: Callable[[str], ExitStack]
) -> None:
    with two_under_way("search"):
        assert browse(bob).get("/search/", {"q": "needle"}).status_code == 200


def test_a_person_and_their_agents_do_not_wait_for_each_other(
    ada: User, tell: TellRun, browse: Browse, two_under_way: Callable[[str], ExitStack]
) -> None:
    tell(ada, {"thought": "needle"})

    with two_under_way("search"):
        assert find_turns(ada)("needle")
    with two_under_way("recall"):
        assert browse(ada).get("/search/", {"q": "needle"}).status_code == 200
        with pytest.raises(ToolFailed, match="Two of your searches are still under way"):
            find_turns(ada)("needle")


def test_the_place_of_a_search_that_broke_off_is_free_again(ada: User) -> None:
    for _ in range(3 * MOST_AT_ONCE):
        with pytest.raises(ZeroDivisionError), one_of_few(ada, "search"):
            raise ZeroDivisionError
