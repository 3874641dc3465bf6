"""A team is made, filled and deleted by administrators, with what was begun in it."""

import json
import threading
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from chat.models import Conversation, Membership, Run, Space, Turn, User
from chat.people.deletion import delete_team
from tests.integration.here import here

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'


def spaces(*words: str) -> str:
    """Return what the command writes."""
    output = StringIO()
    call_command("spaces", *words, stdout=output, stderr=output)
    return output.getvalue()


@pytest.fixture
def root(transactional_db: None) -> Client:
    """Sign an administrator in."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def test_a_team_is_made_and_filled_and_listed_in_a_terminal(ada: User, bob: User) -> None:
    spaces("create", "Red Team")
    spaces("member", "add", "red-team", "ada")
    said = spaces("member", "add", "red-team", "bob", "reviewer")
    spaces("member", "role", "red-team", "ada", "admin")
    Conversation.objects.create(owner=ada, space=Space.objects.get(slug="red-team"))

    (listed,) = map(json.loads, spaces("list", "--kind", "team", "--json").splitlines())

    assert "bob is reviewer of Red Team: reads" in said
    assert listed | {"made": ""} == {
        "slug": "red-team",
        "kind": "team",
        "name": "Red Team",
        "members": "ada: admin, bob: reviewer",
        "conversations": 1,
        "made": "",
    }
    assert [line.split()[0] for line in spaces("list").splitlines()] == [
        *("slug", "red-team", "~ada", "~bob")
    ]

    spaces("member", "remove", "red-team", "bob")

    assert not bob.memberships.exists()


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("create", "Red team"), "Slug already exists"),
        (("create", "!", "--slug", "~ada"), "a-z, 0-9"),
        (("create", "…"), "cannot be blank"),
        (("member", "add", "red", "ada"), "belongs to Red team already"),
        (("member", "add", "red", "eve"), "nobody named eve"),
        (("member", "add", "~ada", "bob"), "no team '~ada'"),
        (("member", "role", "red", "rita", "admin"), "does not belong"),
        (("member", "remove", "red", "rita"), "does not belong"),
        (("delete", "~ada", "--yes"), "no team '~ada'"),
    ],
)
def test_what_a_team_cannot_be_is_said(team: Space, words: tuple[str, ...], refusal: str) -> None:
    User.objects.create_user("rita")
    Space.objects.filter(pk=team.pk).update(slug="red-team" if words[0] == "create" else "red")

    with pytest.raises(CommandError, match=refusal):
        spaces(*words)


def test_a_team_is_deleted_with_what_was_begun_in_it_and_nothing_else(
    ask_in: Callable[..., Run], team: Space, ada: User, bob: User
) -> None:
    kept = ask_in(Conversation.objects.create(owner=ada))
    for user in (ada, bob):
        ask_in(Conversation.objects.create(owner=user, space=team))

    said = spaces("delete", "red", "--yes")

    assert "2 conversations, 2 runs and 0 turns" in said
    assert list(Run.objects.all()) == [kept]
    assert set(Space.objects.all()) == {ada.own_space, bob.own_space}


def test_no_team_is_deleted_unless_the_slug_is_typed_again(
    team: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "yes")

    with pytest.raises(CommandError, match="Nothing was deleted"):
        spaces("delete", "red")

    assert Membership.objects.count() == 2


def test_a_team_is_deleted_while_workers_write_in_it(
    ask_in: Callable[..., Run], team: Space, ada: User, wait_for: Callable[..., None]
) -> None:
    home = Conversation.objects.create(owner=ada, space=team)
    runs = [ask_in(home, [{"say": CALCULATION}] * 8, tools=("calculator",)) for _ in range(3)]
    errors: list[BaseException] = []

    def work(run: Run) -> None:
        try:
            here().work(run.pk)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    wait_for(lambda: Turn.objects.exists(), "the first turn")

    delete_team(team)
    for thread in threads:
        thread.join()

    assert errors == []
    assert not Run.objects.exists()
    assert not Space.objects.filter(pk=team.pk).exists()


def test_a_persons_own_space_is_no_team_to_delete(ada: User) -> None:
    with pytest.raises(ValueError, match="own space"):
        delete_team(ada.own_space)


def test_an_administrator_makes_fills_and_deletes_a_team_in_the_browser(
    root: Client, ada: User, ask_in: Callable[..., Run]
) -> None:
    formset = {"memberships-TOTAL_FORMS": "1", "memberships-INITIAL_FORMS": "0"}
    member = {"memberships-0-user": str(ada.pk), "memberships-0-role": "analyst"}

    made = root.post("/admin/chat/space/add/", {"name": "Blue", "slug": "blue"} | formset | member)

    team = Space.objects.get(slug="blue")
    assert made.status_code == 302
    assert (team.kind, ada.memberships.get().role) == ("team", "analyst")
    listed = root.get("/admin/chat/space/").text
    assert "blue" in listed
    assert "~ada" not in listed

    ask_in(Conversation.objects.create(owner=ada, space=team))
    page = f"/admin/chat/space/{team.pk}/delete/"
    assert "Runs: 1" in root.get(page).text
    root.post(page, {"post": "yes"})

    assert not Space.objects.filter(slug="blue").exists()
    assert not Run.objects.exists()


def test_nobody_changes_or_deletes_a_persons_own_space_in_the_administration(
    root: Client, ada: User
) -> None:
    for page in (f"/admin/chat/space/{ada.pk}/change/", f"/admin/chat/space/{ada.pk}/delete/"):
        root.post(page, {"post": "yes", "name": "Mine", "slug": "mine"})

    assert ada.own_space.name == "ada"


def test_a_member_makes_no_team_in_the_administration(ada: User) -> None:
    client = Client()
    client.force_login(ada)

    client.post("/admin/chat/space/add/", {"name": "Mine", "slug": "mine"})

    assert not Space.objects.filter(slug="mine").exists()
