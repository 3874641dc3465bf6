import html
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from chat.models import Conversation, Policy, Run, Turn, User
from chat.runs.stop import request_stop

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

SAME = {"tool": "calculator", "inputs": {"expression": "1 + 1"}, "observation": "2"}


@pytest.fixture
def two_runs(ada: User, tell: TellRun) -> tuple[Run, Run]:
    """Store a question of Ada's with an answer under each of two policies."""
    conversation = Conversation.objects.create(owner=ada)
    here = {"conversation": conversation, "question": "One and one?"}
    one = tell(ada, {"thought": "Look first."}, SAME, answer="Two.", input_tokens=1204, **here)
    two = tell(ada, SAME, policy="implicit", answer="2", again_of=one, **here)
    return one, two


def url_of(one: Run, other: Run) -> str:
    return f"/runs/{one.pk}/compare/{other.pk}/"


def test_two_runs_are_shown_side_by_side(
    ada: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    one, two = two_runs

    page = browse(ada).get(url_of(one, two)).content.decode()

    assert "Look first." in page
    assert "1 time both called the same tool with the same inputs" in page
    assert page.count('title="Same tool and inputs"') == 1
    assert f'href="/runs/{one.pk}/"' in page
    assert f'href="/runs/{two.pk}/"' in page
    assert f'href="{url_of(two, one)}"' in page
    for run in two_runs:
        assert str(run.policy_version) in page
        assert run.answer in page
        for turn in run.turns.all():
            assert f'id="run-{run.pk}-turn-{turn.number}"' in page


def test_tokens_that_nobody_counted_are_a_dash(
    ada: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    page = browse(ada).get(url_of(*two_runs)).content.decode()

    tokens = re.findall(r"<dt>Tokens (?:in|out)</dt><dd>([^<]*)</dd>", page)
    assert tokens == ["1,204", "\u2013", "\u2013", "\u2013"]


def test_different_questions_and_one_run_twice_are_said_to_be_so(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    one, other = tell(ada, {}, question="This?"), tell(ada, {}, question="That?")
    client = browse(ada)

    different = client.get(url_of(one, other)).content.decode()
    itself = client.get(url_of(one, one)).content.decode()

    assert "These runs answer different questions." in different
    assert "This?" in different
    assert "That?" in different
    assert "This is one run, beside itself." in itself


def test_a_very_long_run_is_shown_to_its_last_row_a_page_at_a_time(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    long, short = tell(ada, *[SAME] * 202, {"thought": "The last."}), tell(ada, SAME)
    client = browse(ada)

    page = client.get(url_of(long, short)).content.decode()
    (later,) = re.findall(r'rel="next" href="([^"]*)"', page)
    last = client.get(url_of(long, short) + later).content.decode()

    assert page.count('class="compare__cell" data-side="A"') == 200
    assert "Rows 1 to 200 of 203" in page
    assert "The last." not in page
    assert "Rows 201 to 203 of 203" in last
    assert "The last." in last


@pytest.mark.parametrize("row", ["0", "-1", "x", "9" * 9, "9" * 50])
def test_a_strange_row_does_no_harm(
    ada: User, two_runs: tuple[Run, Run], browse: Browse, row: str
) -> None:
    assert "Look first." in browse(ada).get(f"{url_of(*two_runs)}?row={row}").content.decode()


def test_a_live_comparison_stays_on_its_page(ada: User, tell: TellRun, browse: Browse) -> None:
    long, live = tell(ada, *[SAME] * 203), tell(ada, {}, status="running")
    client = browse(ada)

    page = client.get(f"{url_of(long, live)}?row=201").content.decode()
    (poll,) = re.findall(r'hx-get="([^"]*)" hx-trigger="every 2s"', page)
    Turn.objects.filter(run=live).update(thought="More.")
    Run.objects.filter(pk=live.pk).update(stream_id="1-9")
    fresh = client.get(html.unescape(poll), headers={"HX-Request": "true"}).content.decode()

    assert "Rows 201 to 203 of 203" in fresh


def test_comparing_reads_long_texts_only_of_the_page_that_is_shown(
    ada: User, tell: TellRun, browse: Browse, django_assert_max_num_queries: Any
) -> None:
    long = tell(ada, *[SAME | {"observation": "x"}] * 203)
    client = browse(ada)
    client.get(url_of(long, long))

    with django_assert_max_num_queries(14):
        client.get(url_of(long, long))


def test_a_run_leads_to_its_repeats_and_back(
    ada: User, rita: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    one, two = two_runs
    three = Run.objects.get(pk=two.pk)
    three.pk = None
    three.client_message_id = uuid.uuid4()
    three.save()

    for reader in (ada, rita):
        client = browse(reader)
        for run, others in ((one, (two, three)), (two, (one, three)), (three, (one, two))):
            page = client.get(f"/runs/{run.pk}/").content.decode()
            for other in others:
                assert f'href="/runs/{other.pk}/"' in page
                first, second = sorted((run, other), key=lambda one: one.pk)
                assert f'href="{url_of(first, second)}"' in page


def test_any_two_runs_that_one_may_read_are_compared_by_their_numbers(
    ada: User, bob: User, rita: User, tell: TellRun, browse: Browse
) -> None:
    mine, theirs = tell(ada, {}), tell(bob, {})

    asked = browse(rita).get(f"/runs/{mine.pk}/compare/", {"with": f" {theirs.pk} "})
    refused = browse(ada).get(f"/runs/{mine.pk}/compare/", {"with": theirs.pk}, follow=True)
    strange = browse(ada).get(f"/runs/{mine.pk}/compare/", {"with": "x\0"}, follow=True)

    assert asked["Location"] == url_of(mine, theirs)
    assert "that you can read" in refused.content.decode()
    assert "that you can read" in strange.content.decode()
    assert browse(ada).get(f"/runs/{theirs.pk}/compare/", {"with": mine.pk}).status_code == 404
    assert 'name="with"' in browse(rita).get(f"/runs/{mine.pk}/").content.decode()


def test_a_live_comparison_asks_again_until_both_have_ended(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    ended, live = tell(ada, {}), tell(ada, {}, status="running")
    client = browse(ada)

    page = client.get(url_of(ended, live)).content.decode()
    (poll,) = re.findall(r'hx-get="([^"]*)" hx-trigger="every 2s"', page)
    poll = html.unescape(poll)
    unchanged = client.get(poll, headers={"HX-Request": "true"})
    request_stop(live)
    Run.objects.filter(pk=live.pk).update(
        status="stopped", ended_at=live.started_at, lease_until=None
    )
    changed = client.get(poll, headers={"HX-Request": "true"}).content.decode()

    assert unchanged.status_code == 204
    assert "<html" not in changed
    assert "hx-get" not in changed
    assert "stopped" in changed


def test_a_comparison_with_somebody_elses_run_is_not_there(
    ada: User, bob: User, tell: TellRun, browse: Browse
) -> None:
    mine, theirs = tell(bob, {}), tell(ada, {})
    client = browse(bob)

    for one, other in ((mine, theirs), (theirs, mine), (theirs, theirs)):
        assert client.get(url_of(one, other)).status_code == 404
    assert client.get(f"/runs/{mine.pk}/compare/999999/").status_code == 404


def test_a_stranger_is_asked_to_sign_in(client: Client, two_runs: tuple[Run, Run]) -> None:
    for url in (url_of(*two_runs), f"/runs/{two_runs[0].pk}/again/"):
        answer = client.post(url) if url.endswith("again/") else client.get(url)

        assert answer.status_code == 302
        assert answer["Location"].startswith("/accounts/login/")


def test_a_reviewer_may_compare_but_not_ask(
    rita: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    client = browse(rita)

    assert client.get(url_of(*two_runs)).status_code == 200
    asked = client.post(f"/runs/{two_runs[0].pk}/again/", {"policy": "implicit"})
    assert asked.status_code == 404


def test_hostile_text_is_shown_as_text(ada: User, tell: TellRun, browse: Browse) -> None:
    hostile = "<script>alert(1)</script>"
    inputs = {"code": hostile}
    run = tell(
        ada, {"thought": hostile, "tool": "f", "inputs": inputs}, question=hostile, answer=hostile
    )

    page = browse(ada).get(url_of(run, tell(ada, {}))).content.decode()

    assert hostile not in page


def test_a_question_is_asked_again_under_another_policy(
    ada: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    one, _ = two_runs

    answer = browse(ada).post(f"/runs/{one.pk}/again/", {"policy": "implicit"})

    again = Run.objects.latest("pk")
    assert answer["Location"] == url_of(one, again)
    assert again.question == one.question
    assert again.conversation == one.conversation
    assert again.again_of == one
    assert again.parent == one.parent
    assert again.policy_version.policy.slug == "implicit"
    assert again in one.asked_again.all()


def test_a_button_pressed_twice_asks_once(
    ada: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    one, _ = two_runs
    client = browse(ada)

    answers = [client.post(f"/runs/{one.pk}/again/", {"policy": "explicit"}) for _ in range(2)]

    assert answers[0]["Location"] == answers[1]["Location"]
    assert Run.objects.count() == 3


@pytest.mark.parametrize(
    ("policy", "message"),
    [("best", "There is no policy &#x27;best&#x27;."), ("", "No policy was chosen."), ("\0", "No")],
)
def test_a_policy_that_is_not_offered_is_refused_in_words(
    ada: User, two_runs: tuple[Run, Run], browse: Browse, policy: str, message: str
) -> None:
    client = browse(ada)

    page = client.post(f"/runs/{two_runs[0].pk}/again/", {"policy": policy}, follow=True)

    assert message in page.content.decode()
    (choices,) = re.findall("Ask again under one of these: ([^.]*)", page.content.decode())
    assert {"explicit", "implicit"} <= set(choices.split(", "))
    assert Run.objects.count() == 2


def test_a_withdrawn_policy_is_not_offered(
    ada: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    Policy.objects.filter(slug="implicit").update(is_offered=False)

    browse(ada).post(f"/runs/{two_runs[0].pk}/again/", {"policy": "implicit"})

    assert Run.objects.count() == 2


def test_a_request_without_the_token_is_refused(ada: User, two_runs: tuple[Run, Run]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)

    answer = client.post(f"/runs/{two_runs[0].pk}/again/", {"policy": "implicit"})

    assert answer.status_code == 403
    assert Run.objects.count() == 2


def test_asking_is_only_done_by_posting(
    ada: User, two_runs: tuple[Run, Run], browse: Browse
) -> None:
    assert browse(ada).get(f"/runs/{two_runs[0].pk}/again/").status_code == 405
