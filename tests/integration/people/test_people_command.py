"""Whoever runs Turnstone says in a terminal who may do what, and takes people's leave."""

import json
import threading
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from chat.models import Approval, Conversation, Queue, Run, Turn, User
from chat.people.deletion import delete_person
from chat.people.roles import GROUPS
from chat.runs.validation import InvalidQuestion
from chat.runs.worker.claim import claim
from tests.integration.here import here

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
ANSWER = "Final Answer: It is **42**."


def people(*words: str) -> str:
    """Return what the command writes."""
    output = StringIO()
    call_command("people", *words, stdout=output, stderr=output)
    return output.getvalue()


@pytest.fixture
def root(transactional_db: None) -> User:
    """Make an administrator."""
    return User.objects.create_superuser("root", password="root-secret-1")


@pytest.fixture
def answered(asked: Callable[..., Run]) -> Run:
    """Make a run of Ada's that was answered after one action."""
    run = asked([{"say": CALCULATION}, {"say": ANSWER}], tools=("calculator",))
    here().work(run.pk)
    return run


@pytest.mark.django_db
def test_a_new_installation_has_the_groups_of_its_roles() -> None:
    assert set(Group.objects.values_list("name", flat=True)) == set(GROUPS)


def test_everybody_is_listed_with_their_role_and_what_is_theirs(
    root: User, answered: Run, bob: User
) -> None:
    people("role", "bob", "reviewer")

    lines = people("list").splitlines()
    (told,) = map(json.loads, people("list", "--role", "member", "--json").splitlines())

    assert [line.split()[:2] for line in lines] == [
        ["name", "role"],
        ["ada", "member"],
        ["bob", "reviewer"],
        ["root", "admin"],
    ]
    assert (told["name"], told["conversations"], told["runs"]) == ("ada", 1, 1)


def test_a_reviewer_reads_a_transcript_until_they_are_a_member_again(
    answered: Run, bob: User
) -> None:
    client = Client()
    client.force_login(bob)
    page = f"/runs/{answered.pk}/"
    assert client.get(page).status_code == 404

    people("role", "bob", "reviewer")
    assert client.get(page).status_code == 200
    people("role", "bob", "member")

    assert client.get(page).status_code == 404


def test_an_administrator_manages_people_and_reads_metrics(bob: User) -> None:
    people("role", "bob", "admin")
    client = Client()
    client.force_login(bob)

    assert client.get("/admin/chat/user/").status_code == 200
    assert client.get("/metrics").status_code == 200


def test_the_last_administrator_stays(root: User, ada: User) -> None:
    for words in (("role", "root", "member"), ("delete", "root", "--yes")):
        with pytest.raises(CommandError, match="last administrator"):
            people(*words)
    root.refresh_from_db()
    assert root.is_superuser
    assert root.is_active

    people("role", "ada", "admin")
    people("delete", "root", "--yes")

    assert not User.objects.filter(username="root").exists()


def test_a_name_that_nobody_has_is_said(db: None) -> None:
    for words in (("role", "eve", "member"), ("export", "eve", "eve.zip"), ("delete", "eve")):
        with pytest.raises(CommandError, match="nobody named eve"):
            people(*words)


def test_what_is_a_persons_is_exported_whole_and_nobody_elses(
    answered: Run, bob: User, tmp_path: Path
) -> None:
    Conversation.objects.create(owner=bob, title="Bob's")
    file = tmp_path / "ada.zip"

    said = people("export", "ada", str(file))

    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == [
            "account.json",
            f"runs/{answered.pk}.json",
            "conversations.json",
        ]
        account = json.loads(archive.read("account.json"))
        run = json.loads(archive.read(f"runs/{answered.pk}.json"))
        (conversation,) = json.loads(archive.read("conversations.json"))
    assert "1 runs" in said
    assert (account["name"], account["role"]) == ("ada", "member")
    assert run["answer"] == "It is **42**."
    assert run["turns"][0]["actions"][0]["observation"] == "42"
    assert len(run["model_calls"]) == 2
    assert conversation["runs"] == [answered.pk]
    with pytest.raises(CommandError, match="cannot be written"):
        people("export", "ada", str(file))


def test_a_person_is_deleted_with_all_that_is_theirs(
    answered: Run, bob: User, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Conversation.objects.create(owner=bob)

    said = people("delete", "ada", "--yes")

    assert "1 conversations, 1 runs and 2 turns" in said
    assert list(User.objects.all()) == [bob]
    assert list(Conversation.objects.all()) == [kept]
    for model in (Run, Turn, Approval):
        assert not model.objects.exists()
    assert not Queue.objects.exclude(space=bob.pk).exists()


def test_nothing_is_deleted_unless_the_name_is_typed_again(
    answered: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "yes")

    with pytest.raises(CommandError, match="Nothing was deleted"):
        people("delete", "ada")

    assert User.objects.filter(username="ada", is_active=True).exists()


def test_a_person_whose_run_a_worker_holds_is_deleted(asked: Callable[..., Run]) -> None:
    run = claim(asked([{"say": ANSWER}]).pk, "a worker")
    assert run is not None

    delete_person(run.owner)

    assert not User.objects.exists()


def test_a_person_who_is_being_deleted_can_ask_nothing_more(
    asked: Callable[..., Run], ada: User
) -> None:
    User.objects.filter(pk=ada.pk).update(is_active=False)

    with pytest.raises(InvalidQuestion, match="closed"):
        asked([])

    assert not Run.objects.exists()


def test_a_person_is_deleted_while_workers_write_for_them(
    ada: User, asked: Callable[..., Run], wait_for: Callable[..., None]
) -> None:
    runs = [asked([{"say": CALCULATION}] * 8, tools=("calculator",)) for _ in range(4)]
    errors: list[BaseException] = []
    threads = [threading.Thread(target=_work, args=(run.pk, errors)) for run in runs]
    for thread in threads:
        thread.start()
    wait_for(lambda: Turn.objects.exists(), "the first turn")

    delete_person(ada)
    for thread in threads:
        thread.join()

    assert errors == []
    assert not Run.objects.exists()
    assert not User.objects.exists()


def _work(run_id: int, errors: list[BaseException]) -> None:
    try:
        here().work(run_id)
    except BaseException as error:
        errors.append(error)
    finally:
        connection.close()


def _long_run(owner: User, version: Any, calls: int) -> Run:
    """Store a run whose requests each begin with the one before."""
    now = timezone.now()
    conversation = Conversation.objects.create(owner=owner)
    run = Run.objects.create(
        conversation=conversation,
        client_message_id="00000000-0000-4000-8000-000000000000",
        question="Long?",
        policy_version=version,
        status="succeeded",
        reason="answered",
        ended_at=now,
    )
    base = None
    for index in range(calls):
        base = run.model_calls.create(
            index=index, turn_index=index, attempt=1, base=base, started_at=now, seconds=0
        )
    return run


def test_an_administrator_deletes_a_person_with_a_long_run_in_the_browser(
    root: User, ada: User, scripted: Callable[..., Any]
) -> None:
    _long_run(ada, scripted([]), calls=999)
    client = Client()
    client.force_login(root)
    page = f"/admin/chat/user/{ada.pk}/delete/"

    asked = client.get(page)
    done = client.post(page, {"post": "yes"}, follow=True)

    assert "Conversations: 1" in asked.text
    assert "was deleted successfully" in done.text
    assert not User.objects.filter(username="ada").exists()
    assert not Run.objects.exists()


def test_several_people_are_deleted_from_the_list_but_not_the_last_administrator(
    root: User, ada: User, bob: User
) -> None:
    client = Client()
    client.force_login(root)
    choice = {"action": "delete_selected", "post": "yes"}

    chosen = [root.pk, ada.pk]
    refused = client.post("/admin/chat/user/", choice | {"_selected_action": chosen})
    assert "last administrator" in refused.text
    assert User.objects.count() == 3

    client.post("/admin/chat/user/", choice | {"_selected_action": [ada.pk, bob.pk]})

    assert list(User.objects.all()) == [root]


def test_a_member_deletes_nobody_in_the_administration(ada: User, bob: User) -> None:
    client = Client()
    client.force_login(ada)

    client.post(f"/admin/chat/user/{bob.pk}/delete/", {"post": "yes"})

    assert User.objects.filter(pk=bob.pk).exists()
