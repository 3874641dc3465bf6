import re
from collections.abc import Callable
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, Run, User
from chat.search import find
from tests.integration.reading.search.page import links, page_of

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


def test_a_stranger_is_asked_to_sign_in(client: Client) -> None:
    answer = client.get("/search/?q=x")

    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")


def test_a_member_sees_only_their_own_turns(
    ada: User, bob: User, tell: TellRun, browse: Browse
) -> None:
    tell(ada, {"thought": "alpha mine"})
    tell(bob, {"thought": "alpha theirs"})

    page = page_of(browse(ada), "alpha")

    assert "1 turn, newest first" in page
    assert "theirs" not in page
    assert "bob" not in page


def test_a_reviewer_sees_everyones_turns_and_whose_they_are(
    ada: User, rita: User, tell: TellRun, browse: Browse
) -> None:
    tell(ada, {"thought": "alpha"})

    page = page_of(browse(rita), "alpha")

    assert '<span class="hit__user">ada</span>' in page


def titles(page: str) -> list[str]:
    return [unescape(title) for title in re.findall(r'titles__title"[^>]*>([^<]*)</a>', page)]


def test_conversations_are_found_by_their_titles(ada: User, tell: TellRun, browse: Browse) -> None:
    for title in ("Trip to Lisbon", "Lisbon hotels", "Porto <b>"):
        Conversation.objects.create(owner=ada, title=title)
    client = browse(ada)

    assert titles(page_of(client, "lisb")) == ["Lisbon hotels", "Trip to Lisbon"]
    assert titles(page_of(client, '"trip to" LISBON')) == ["Trip to Lisbon"]
    assert titles(page_of(client, "lisbon -hotels")) == ["Trip to Lisbon"]
    assert titles(page_of(client, "<b>")) == ["Porto <b>"]
    assert titles(page_of(client, "lisbon policy:explicit")) == []
    assert titles(page_of(client, "-lisbon")) == []
    assert titles(page_of(client, "absent")) == []


def test_nobody_finds_conversations_of_others(
    ada: User, bob: User, rita: User, browse: Browse
) -> None:
    Conversation.objects.create(owner=ada, title="Trip to Lisbon")

    assert titles(page_of(browse(bob), "lisbon")) == []
    assert titles(page_of(browse(rita), "lisbon")) == []


def test_a_hit_names_its_conversation_to_whose_it_is_and_its_question_to_a_reviewer(
    ada: User, rita: User, tell: TellRun, browse: Browse
) -> None:
    named = Conversation.objects.create(owner=ada, title="My own name")
    run = tell(ada, {"thought": "needle"}, question="What is it?", conversation=named)

    mine, theirs = page_of(browse(ada), "needle"), page_of(browse(rita), "needle")

    assert '<bdi class="hit__title">My own name</bdi>' in mine
    assert '<bdi class="hit__title">What is it?</bdi>' in theirs
    assert f"run {run.pk}, turn 1" in mine
    assert "My own name" not in theirs


def test_the_tools_of_others_are_not_named(
    ada: User, bob: User, tell: TellRun, browse: Browse
) -> None:
    tell(ada, {})
    tell(bob, {"tool": "bobs_tool", "inputs": {}})

    assert "bobs_tool" not in page_of(browse(ada))


def test_each_result_opens_the_transcript_at_its_turn(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, {}, {"thought": "needle"})

    (url,) = links(page_of(browse(ada), "needle"))

    assert url == f"/runs/{run.pk}/?turn=2&q=needle#run-{run.pk}-turn-2"
    assert f'id="run-{run.pk}-turn-2"' in browse(ada).get(url).content.decode()


def test_a_result_deep_in_a_long_transcript_opens_there(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, *[{"thought": "hay"}] * 120, {"thought": "needle"}, {"thought": "hay"})

    (url,) = links(page_of(browse(ada), "needle"))

    assert f'id="run-{run.pk}-turn-121"' in browse(ada).get(url).content.decode()


def test_hostile_text_is_shown_as_text(ada: User, tell: TellRun, browse: Browse) -> None:
    hostile = "<script>alert('needle')</script> <mark>needle</mark> &lt;b&gt;"
    tell(ada, {"thought": hostile, "tool": "<img src=x>", "inputs": {}}, question=hostile)

    page = page_of(browse(ada), 'needle <script> "onload=alert(1)" -\'>')

    assert "<script>alert" not in page
    assert "<img src=x>" not in page
    page = page_of(browse(ada), "needle")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(&#x27;<mark>needle</mark>&#x27;)" in page
    assert "&lt;mark&gt;<mark>needle</mark>&lt;/mark&gt; &amp;lt;b" in page


def test_a_bad_clause_is_named_and_what_was_typed_is_kept(ada: User, browse: Browse) -> None:
    page = page_of(browse(ada), 'tool:"<b>')

    assert "there is no tool &#x27;&lt;b&gt;&#x27;" in page
    assert 'value="tool:&quot;&lt;b&gt;"' in page


@pytest.mark.parametrize(
    "parameters",
    [
        {"before": "x"},
        {"after": "-1"},
        {"before": "9" * 40},
        {"q": "\x00"},
        {"q": "x" * 100_000},
        {"q": "a & b | !c <-> d:*"},
        {"q": "'; DROP TABLE chat_turn; --"},
        {"q": '"""'},
        {"q": "user:\x00 tool:\ud800".encode(errors="replace").decode()},
    ],
)
def test_no_address_breaks_the_page(ada: User, browse: Browse, parameters: dict[str, str]) -> None:
    assert browse(ada).get("/search/", parameters).status_code == 200


def test_the_newest_turns_are_shown_first_and_the_pages_are_linked(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, *[{"thought": "common"}] * 30)
    client = browse(ada)

    first = page_of(client, "common")
    (older,) = re.findall(r'rel="next" href="([^"]*)"', first)
    second = client.get(unescape(older)).content.decode()

    assert links(first)[0].endswith(f"#run-{run.pk}-turn-30")
    assert len(links(first)) == 25
    assert len(links(second)) == 5
    assert 'rel="prev"' in second
    assert "q=common" in older


def test_the_results_alone_are_given_to_htmx(ada: User, tell: TellRun, browse: Browse) -> None:
    tell(ada, {"thought": "needle"})

    answer = browse(ada).get("/search/", {"q": "needle"}, headers={"HX-Request": "true"})

    assert "<html" not in answer.content.decode()
    assert "<mark>needle</mark>" in answer.content.decode()
    assert "HX-Request" in answer["Vary"]


def test_a_whole_page_is_given_to_a_browser_that_goes_back(ada: User, browse: Browse) -> None:
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}

    answer = browse(ada).get("/search/", {"q": "needle"}, headers=headers)

    assert "<html" in answer.content.decode()


def test_a_turn_too_long_to_search_whole_says_so(ada: User, tell: TellRun, browse: Browse) -> None:
    tell(ada, {"thought": "needle", "observation": "hay " * 100_000})

    assert "The turn is longer than what search reads of it" in page_of(browse(ada), "needle")


def test_a_page_says_that_there_are_older_turns_it_has_not_looked_through(
    ada: User, tell: TellRun, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "WALKED", 3)
    tell(ada, {"thought": "needle"}, *[{"thought": "hay"}] * 5)
    client = browse(ada)

    newest = page_of(client, "-hay")
    (older,) = re.findall(r'rel="next" href="([^"]*)"', newest)
    oldest = client.get(unescape(older)).content.decode()

    assert "No turn among these 3 fits" in newest
    assert "3 turns were looked through, and there are older ones." in newest
    assert len(links(oldest)) == 1
    assert "there are older ones" not in oldest


def test_nothing_yet_and_nothing_found_are_told_apart(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    empty = page_of(browse(ada))
    tell(ada, {})

    assert "No turns yet" in empty
    assert "No turn fits" in page_of(browse(ada), "absent")


def test_a_page_takes_as_many_queries_for_one_hit_as_for_many(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    client = browse(ada)
    tell(ada, {"thought": "needle"})
    page_of(client, "needle")
    with CaptureQueriesContext(connection) as for_one:
        page_of(client, "needle")
    for _ in range(20):
        tell(ada, {"thought": "needle"})

    with CaptureQueriesContext(connection) as for_many:
        page_of(client, "needle")

    assert len(for_many) == len(for_one)
