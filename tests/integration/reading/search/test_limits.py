"""That searches of one person do not take what the others need."""

from collections.abc import Callable

import pytest
from django.test import Client

from agents.errors import ToolFailed
from chat.models import Run, User
from chat.search.limits import MAX_AT_ONCE, one_of_few
from chat.search.recall import find_turns
from tests.searching import as_many_as_may_be

pytestmark = pytest.mark.django_db(transaction=True)

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


def test_a_third_search_of_a_person_is_refused_in_words_until_one_has_ended(
    ada: User, browse: Browse
) -> None:
    client = browse(ada)
    with as_many_as_may_be(ada, "search"):
        refused = client.get("/search/", {"q": "needle"})
        later = client.get("/search/", {"q": "needle"}, headers={"HX-Request": "true"})
    answered = client.get("/search/", {"q": "needle"})

    assert refused.status_code == 429
    assert "Two of your searches are still under way." in refused.content.decode()
    assert later.status_code == 200
    assert 'hx-get="/search/?q=needle" hx-trigger="load delay:1s"' in later.content.decode()
    assert answered.status_code == 200


def test_the_searches_of_one_person_are_nothing_to_another(
    ada: User, bob: User, browse: Browse
) -> None:
    with as_many_as_may_be(ada, "search"):
        assert browse(bob).get("/search/", {"q": "needle"}).status_code == 200


def test_a_person_and_their_agents_do_not_wait_for_each_other(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    tell(ada, {"thought": "needle"})

    with as_many_as_may_be(ada, "search"):
        assert find_turns(ada)("needle")
    with as_many_as_may_be(ada, "recall"):
        assert browse(ada).get("/search/", {"q": "needle"}).status_code == 200
        with pytest.raises(ToolFailed, match="Two of your searches are still under way"):
            find_turns(ada)("needle")


def test_the_place_of_a_search_that_broke_off_is_free_again(ada: User) -> None:
    for _ in range(3 * MAX_AT_ONCE):
        with pytest.raises(ZeroDivisionError), one_of_few(ada, "search"):
            raise ZeroDivisionError
