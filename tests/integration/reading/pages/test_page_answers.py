"""The answer on every page that shows one: as it is rendered today, and its source to be copied."""

from collections.abc import Callable

import pytest
from django.test import Client

from chat.models import Run, User
from chat.stream.markdown import FORM

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

ANSWER = "See \\(a^2\\) and https://example.org/."
OLD = "<p>See (a^2) and https://example.org/.</p>"


@pytest.fixture
def run(ada: User, tell: TellRun) -> Run:
    """Store a run whose answer was rendered by an earlier Turnstone."""
    run = tell(ada, {"thought": "I know."}, answer=ANSWER)
    Run.objects.filter(pk=run.pk).update(answer_html=OLD, answer_form=0)
    return run


PAGES = [
    "/runs/{run.pk}/",
    "/conversations/{run.conversation_id}/",
    "/runs/{run.pk}/compare/{run.pk}/",
]


@pytest.mark.parametrize("page", PAGES)
def test_an_answer_of_an_earlier_release_is_rendered_anew_where_it_is_read(
    run: Run, ada: User, browse: Browse, page: str
) -> None:
    html = browse(ada).get(page.format(run=run)).content.decode()

    assert '<code class="formula">\\(a^2\\)</code>' in html
    assert 'href="https://example.org/"' in html
    assert OLD not in html


@pytest.mark.parametrize("page", PAGES)
def test_an_answer_that_was_rendered_anew_is_kept(
    run: Run, ada: User, browse: Browse, page: str
) -> None:
    browse(ada).get(page.format(run=run))

    run.refresh_from_db()
    assert 'href="https://example.org/"' in run.answer_html
    assert run.answer_form == FORM
    assert run.answer == ANSWER


def test_an_answer_of_this_release_is_shown_as_it_is_stored(
    run: Run, ada: User, browse: Browse
) -> None:
    Run.objects.filter(pk=run.pk).update(answer_html="<p>Stored.</p>", answer_form=FORM)

    assert b"<p>Stored.</p>" in browse(ada).get(f"/runs/{run.pk}/").content


def test_the_source_of_an_answer_is_what_the_model_wrote(
    run: Run, ada: User, browse: Browse
) -> None:
    answer = browse(ada).get(f"/runs/{run.pk}/answer.md")

    assert answer.content.decode() == ANSWER
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
