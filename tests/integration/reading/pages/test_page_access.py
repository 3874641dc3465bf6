"""Every address of a conversation or a run is for its owner; to others it does not exist."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, ModelCall, Run, User
from chat.request import digest_of

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

OF_CONVERSATION = ["", "rename/", "delete/"]
READABLE = [
    "",
    "rows/",
    "transcript.json",
    "transcript.md",
    "answer.md",
    "turns/1/actions/1/observation.txt",
    "turns/1/thought.txt",
    "turns/1/actions/1/inputs.txt",
    "calls/1/",
    "calls/1/request.txt",
]


@pytest.fixture
def run(ada: User, tell: TellRun) -> Run:
    """Store a run of Ada's with an action and a model call."""
    run = tell(
        ada,
        {
            "thought": "The secret thought.",
            "tool": "calculator",
            "inputs": {"expression": "1 + 1"},
            "observation": "The secret observation.",
        },
        answer="Two.",
    )
    ModelCall.objects.create(
        run=run,
        index=0,
        turn_index=0,
        attempt=1,
        purpose="think",
        provider="demo",
        model="rule-based",
        rest="{}",
        digest=digest_of("{}"),
        started_at=timezone.now(),
        seconds=0.1,
    )
    return run


def own_page(run: Run, path: str) -> str:
    return f"/conversations/{run.conversation_id}/{path}"


@pytest.mark.parametrize("path", OF_CONVERSATION)
def test_a_stranger_finds_no_conversation(run: Run, bob: User, browse: Browse, path: str) -> None:
    assert browse(bob).get(own_page(run, path)).status_code == 404


@pytest.mark.parametrize("path", OF_CONVERSATION)
def test_a_stranger_changes_no_conversation(run: Run, bob: User, browse: Browse, path: str) -> None:
    answer = browse(bob).post(
        own_page(run, path), {"title": "Mine", "text": "Hello", "policy": "explicit"}
    )

    assert answer.status_code == 404
    assert Conversation.objects.get().title == run.conversation.title
    assert Run.objects.count() == 1


@pytest.mark.parametrize("path", OF_CONVERSATION)
def test_a_reviewer_has_no_part_in_a_conversation(
    run: Run, rita: User, browse: Browse, path: str
) -> None:
    assert browse(rita).post(own_page(run, path)).status_code == 404


@pytest.mark.parametrize("path", READABLE)
def test_a_stranger_reads_nothing_of_a_run(run: Run, bob: User, browse: Browse, path: str) -> None:
    answer = browse(bob).get(f"/runs/{run.pk}/{path}")

    assert answer.status_code == 404
    assert not answer.streaming
    assert b"secret" not in answer.content


@pytest.mark.parametrize("path", READABLE)
def test_the_owner_and_a_reviewer_read_a_run(
    run: Run, ada: User, rita: User, browse: Browse, path: str
) -> None:
    for reader in (ada, rita):
        assert browse(reader).get(f"/runs/{run.pk}/{path}").status_code == 200


@pytest.mark.parametrize("path", ["", "transcript.json", "calls/1/", "turns/"])
def test_who_is_not_signed_in_is_asked_to_sign_in(run: Run, path: str) -> None:
    answer = Client().get(f"/runs/{run.pk}/{path}")

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/accounts/login/")


def test_a_stranger_stops_no_run(ada: User, bob: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, status="queued")

    answer = browse(bob).post(f"/runs/{run.pk}/stop/")

    run.refresh_from_db()
    assert answer.status_code == 404
    assert run.status == "queued"


def test_a_reviewer_stops_no_run(ada: User, rita: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, status="queued")

    answer = browse(rita).post(f"/runs/{run.pk}/stop/")

    run.refresh_from_db()
    assert answer.status_code == 404
    assert run.status == "queued"


def test_a_stranger_unfolds_no_turns(run: Run, bob: User, browse: Browse) -> None:
    assert browse(bob).get(f"/runs/{run.pk}/turns/").status_code == 404


def test_the_list_holds_only_ones_own(run: Run, bob: User, browse: Browse) -> None:
    Conversation.objects.create(owner=bob, title="Bob's own")

    page = browse(bob).get("/").content.decode()

    assert "Bob&#x27;s own" in page
    assert f"/conversations/{run.conversation_id}/" not in page


@pytest.mark.parametrize("number", ["0", "99", "9" * 30])
def test_a_turn_or_call_that_is_not_there_is_not_found(
    run: Run, ada: User, browse: Browse, number: str
) -> None:
    for path in (f"turns/{number}/thought.txt", f"calls/{number}/", f"calls/{number}/request.txt"):
        assert browse(ada).get(f"/runs/{run.pk}/{path}").status_code == 404


def test_a_number_beyond_the_database_is_not_found(ada: User, browse: Browse) -> None:
    for page in (f"/runs/{'9' * 30}/", f"/conversations/{'9' * 30}/"):
        assert browse(ada).get(page).status_code == 404


def test_a_page_that_is_not_there_looks_like_turnstone(ada: User, browse: Browse) -> None:
    answer = browse(ada).get("/no/such/page/")

    assert answer.status_code == 404
    assert "Nothing here" in answer.content.decode()
    assert "css/tokens.css" in answer.content.decode()


def test_an_expired_form_says_what_to_do(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)

    answer = client.post(
        "/conversations/new/", {"text": "Hello", "client_message_id": str(uuid.uuid4())}
    )

    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()
    assert not Conversation.objects.exists()


def test_only_posts_change_anything(run: Run, ada: User, browse: Browse) -> None:
    for page in (f"/runs/{run.pk}/stop/", "/conversations/new/"):
        assert browse(ada).get(page).status_code == 405
