"""What waits for a yes is shown in full, to its owner with two answers, to nobody else."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Approval, Run, RunStatus, User
from chat.runs.approvals import NotOpen, decide
from chat.stream.render import render_run
from chat.templatetags.approvals import shown
from tests.integration.reading.answers import text_of

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]
OPEN = {"status": "open", "ended_at": None, "tool": "bank__pay", "thought": "It is due."}


@pytest.fixture
def ask_for(ada: User, tell: TellRun) -> Callable[..., Approval]:
    """Store a run of Ada's that waits for her: `ask_for({"amount": 7})`."""

    def store(inputs: dict[str, Any], **fields: Any) -> Approval:
        run = tell(ada, OPEN | {"inputs": inputs}, status=RunStatus.WAITING, stream_id="1-4")
        defaults = {"tool": "bank__pay", "inputs": inputs, "safety": "sensitive", "turn_index": 0}
        until = timezone.now() + timedelta(hours=1)
        approval: Approval = run.approvals.create(**defaults | {"expires_at": until} | fields)
        return approval

    return store


def page(client: Client, approval: Approval) -> str:
    return client.get(approval.run.conversation.get_absolute_url()).content.decode()


def post(client: Client, approval: Approval, **fields: str) -> Any:
    return client.post(f"/approvals/{approval.pk}/", fields)


def test_the_card_shows_every_input_whole(
    ask_for: Callable[..., Approval], ada: User, browse: Browse
) -> None:
    long = "".join(f"line {number}\n" for number in range(4_000))
    approval = ask_for({"to": "Eve", "amount": 7, "note": long, "tags": ["a", None]})

    html = page(browse(ada), approval)

    assert long in html
    assert all(part in html for part in ("bank__pay", ">Eve<", ">7<", "null"))
    assert f"{len(long):,} characters; scroll to see all" in html
    assert html.count('value="grant"') == 2  # with scripts, and without


def test_two_different_inputs_never_look_the_same(
    ask_for: Callable[..., Approval], ada: User, browse: Browse
) -> None:
    text, number = ask_for({"amount": "7"}), ask_for({"amount": 7})

    exact = [
        page(browse(ada), one).partition("<pre")[2].partition("</pre>")[0] for one in (text, number)
    ]

    assert "&quot;7&quot;" in exact[0]
    assert ": 7\n" in exact[1]


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "</dd></section>", '" onclick="x', "{{ 7 }}"]
)
def test_hostile_inputs_are_shown_as_text(
    ask_for: Callable[..., Approval], ada: User, browse: Browse, text: str
) -> None:
    html = page(browse(ada), ask_for({"code": text, text: "x"}))

    assert "<script>alert" not in html
    assert 'onclick="x' not in html
    assert html.count("</section>") == html.count("<section")


def test_what_a_text_hides_is_marked(ada: User) -> None:
    marked = shown("a\u202eb<")

    assert marked == 'a<span class="hidden-character" title="\\u202e">U+202E</span>b&lt;'


def test_after_the_answer_the_turn_says_who_gave_it(
    ask_for: Callable[..., Approval], ada: User, browse: Browse
) -> None:
    approval = ask_for({"amount": 7})
    decide(approval, by=ada, grant=True)

    html = page(browse(ada), approval)

    assert "Allowed by ada" in html
    assert 'value="grant"' not in html


def test_the_owner_answers_with_a_form(
    ask_for: Callable[..., Approval], ada: User, browse: Browse
) -> None:
    approval = ask_for({"amount": 7})

    answer = post(browse(ada), approval, decision="deny", feedback="Not\r\nnow.")

    approval.refresh_from_db()
    approval.run.refresh_from_db()
    assert answer.url.endswith(
        f"/conversations/{approval.run.conversation_id}/#run-{approval.run_id}"
    )
    assert (approval.status, approval.feedback, approval.decided_by) == ("denied", "Not\nnow.", ada)
    assert approval.run.status == RunStatus.INTERRUPTED


def test_a_form_that_comes_too_late_is_told_so(
    ask_for: Callable[..., Approval], ada: User, browse: Browse
) -> None:
    approval = ask_for({"amount": 7})
    decide(approval, by=ada, grant=False)
    client = browse(ada)

    post(client, approval, decision="grant")

    assert "This was refused already." in page(client, approval)


@pytest.mark.parametrize("fields", [{}, {"decision": "maybe"}, {"feedback": "yes"}])
def test_a_form_without_an_answer_decides_nothing(
    ask_for: Callable[..., Approval], ada: User, browse: Browse, fields: dict[str, str]
) -> None:
    approval = ask_for({"amount": 7})

    assert post(browse(ada), approval, **fields).status_code == 400
    approval.refresh_from_db()
    assert approval.is_pending


@pytest.mark.parametrize("who", ["bob", "rita"])
def test_nobody_else_answers(
    ask_for: Callable[..., Approval],
    browse: Browse,
    request: pytest.FixtureRequest,
    who: str,
) -> None:
    approval = ask_for({"amount": 7})

    answer = post(browse(request.getfixturevalue(who)), approval, decision="grant")

    approval.refresh_from_db()
    assert (answer.status_code, approval.is_pending) == (404, True)


def test_who_is_not_signed_in_is_asked_to_sign_in(ask_for: Callable[..., Approval]) -> None:
    answer = post(Client(), ask_for({"amount": 7}), decision="grant")

    assert answer.url.startswith("/accounts/login/")


def test_only_a_post_answers(ask_for: Callable[..., Approval], ada: User, browse: Browse) -> None:
    approval = ask_for({"amount": 7})

    assert browse(ada).get(f"/approvals/{approval.pk}/?decision=grant").status_code == 405


def test_a_reviewer_reads_the_question_in_the_transcript_and_is_offered_no_answer(
    ask_for: Callable[..., Approval], ada: User, rita: User, browse: Browse
) -> None:
    approval = ask_for({"amount": 7})
    address = approval.run.get_absolute_url()

    theirs, own = (browse(user).get(address).content.decode() for user in (rita, ada))

    assert f'data-approval="{approval.pk}"' in theirs
    assert ("transcript--own" in theirs, "transcript--own" in own) == (False, True)


def test_the_list_says_what_waits(
    ask_for: Callable[..., Approval], ada: User, browse: Browse
) -> None:
    ask_for({"amount": 7})

    assert "waits for you" in browse(ada).get("/").content.decode()


def test_a_run_takes_one_query_for_all_its_approvals(
    ada: User, tell: TellRun, django_assert_num_queries: Any
) -> None:
    run = tell(ada, *[{"tool": "x", "inputs": {}} for _ in range(20)])
    for index in range(20):
        run.approvals.create(
            turn_index=index,
            tool="x",
            inputs={},
            safety="safe",
            status="granted",
            decided_by=ada,
            decided_at=timezone.now(),
            expires_at=timezone.now(),
        )

    with django_assert_num_queries(3):  # turns, their actions, approvals
        html = render_run(run)

    assert html.count("Allowed by ada") == 20


def test_the_download_holds_the_answers(
    ask_for: Callable[..., Approval], ada: User, browse: Browse
) -> None:
    approval = ask_for({"amount": 7})
    decide(approval, by=ada, grant=False, feedback="No.")
    with pytest.raises(NotOpen):
        decide(approval, by=ada, grant=True)

    address = f"/runs/{approval.run_id}/transcript"
    (turn,) = json.loads(text_of(browse(ada).get(f"{address}.json")))["turns"]

    (action,) = turn["actions"]
    assert (action["approval"]["status"], action["approval"]["feedback"]) == ("denied", "No.")
    assert "Approval: Refused by ada" in text_of(browse(ada).get(f"{address}.md"))


def test_waiting_is_no_work(ada: User, tell: TellRun) -> None:
    run = tell(ada, status=RunStatus.WAITING, seconds_used=2.5)
    run.started_at = timezone.now() - timedelta(hours=1)

    assert run.seconds == 2.5
