"""What narrows the results of a search, on its page."""

from collections.abc import Callable

from django.test import Client

from chat.models import Run, User
from tests.integration.reading.search.page import links, page_of

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


def test_facets_narrow_the_query_and_can_be_taken_back(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    tell(ada, {"thought": "needle", "tool": "f", "inputs": {}}, status="failed")
    client = browse(ada)

    page = page_of(client, "needle")
    narrowed = page_of(client, "needle status:failed")

    assert "/search/?q=needle+tool%3Af" in page
    assert "/search/?q=needle+status%3Afailed" in page
    assert 'class="facet__value facet__value--chosen" href="/search/?q=needle"' in narrowed


def test_a_facet_says_how_many_more_values_there_are_and_shows_them(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    tell(ada, *[{"thought": "hay", "tool": f"t{n}", "inputs": {}} for n in range(11)])

    page = page_of(browse(ada), "hay")

    assert "<summary>3 more</summary>" in page
    assert page.count("/search/?q=hay+tool%3At") == 11


def test_a_facet_asks_in_the_words_that_it_shows(ada: User, tell: TellRun, browse: Browse) -> None:
    tell(ada, {"thought": "needle"})
    tell(ada, {"thought": "needle"}, status="exhausted", answer="", message="Out.")
    client = browse(ada)

    page = page_of(client, "needle")
    narrowed = page_of(client, 'needle status:"ran out"')

    assert "/search/?q=needle+status%3Aanswered" in page
    assert "/search/?q=needle+status%3A%22ran+out%22" in page
    assert len(links(narrowed)) == 1
    assert "Any status instead of ran out" in narrowed


def test_a_status_that_there_is_not_is_answered_in_the_pages_words(
    ada: User, browse: Browse
) -> None:
    page = page_of(browse(ada), "status:done")

    assert "A run is: queued, running, waiting, interrupted, answered, ran out, stopped" in page


def test_the_facets_do_not_guess_where_a_live_run_is(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, {"thought": "needle"}, status="running")
    Run.objects.filter(pk=run.pk).update(status="interrupted", lease_until=None)

    assert "status%3Arunning" not in page_of(browse(ada), "needle")
