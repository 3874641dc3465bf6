"""What is for one person is kept in no cache, and asks their browser for nothing unused."""

from collections.abc import Callable

import pytest
from django.test import Client

from chat.models import Run, User

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

PAGES = [
    "/",
    "/?page=2",
    "/search/?q=secret",
    "/accounts/password/change/",
    "/admin/chat/run/",
    "/no/such/page/",
    "/conversations/{conversation}/",
    "/conversations/{conversation}/delete/",
    "/conversations/{conversation}/events/",
    "/runs/{run}/",
    "/runs/{run}/turns/",
    "/runs/{run}/transcript.json",
    "/runs/{run}/transcript.md",
    "/runs/{run}/turns/1/thought.txt",
    "/runs/{run}/turns/1/actions/1/observation.txt",
]


@pytest.mark.parametrize("path", PAGES)
def test_no_cache_keeps_a_page_of_somebody(
    tell: TellRun, browse: Browse, transactional_db: None, path: str
) -> None:
    root = User.objects.create_superuser("root")
    parts = {"thought": "The secret thought.", "observation": "The secret observation."}
    run = tell(root, parts, answer="Two.")

    answer = browse(root).get(path.format(run=run.pk, conversation=run.conversation_id))

    assert {"no-store", "private"} <= set(answer.headers["Cache-Control"].split(", "))
    assert "camera=()" in answer.headers["Permissions-Policy"]


def test_nor_what_a_stranger_is_answered(db: None) -> None:
    answer = Client().get("/")

    assert answer.status_code == 302
    assert "no-store" in answer.headers["Cache-Control"]


def test_what_is_the_same_for_all_may_be_kept(db: None) -> None:
    answer = Client().get("/static/css/base.css")

    assert answer.status_code == 200
    assert "no-store" not in answer.headers["Cache-Control"]
