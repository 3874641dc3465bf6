"""Everybody has a space of their own, whatever way they came in by, and teams share theirs."""

import json
import threading
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client

from chat.models import Conversation, Membership, Run, Space, Turn, User
from chat.models.space import TEAMS_FROM
from chat.people.deletion import delete_person, delete_team
from chat.runs.validation import InvalidQuestion
from tests.integration.here import here

CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
PASSWORD = "turn of the tide"

BY_HAND = """
INSERT INTO chat_user (password, is_superuser, username, first_name, last_name, email, is_staff,
  is_active, date_joined)
VALUES ('', false, 'eve', '', '', '', false, true, now())
"""


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


def signed_up() -> None:
    fields = {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
    assert Client().post("/accounts/signup/", fields).status_code == 302


def added_by_an_administrator() -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    fields = {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
    answer = client.post("/admin/chat/user/add/", fields | {"usable_password": "true"})
    assert answer.status_code == 302


def made_by_a_command() -> None:
    call_command("createsuperuser", "--noinput", "--username=eve", "--email=", stdout=StringIO())


def made_by_hand() -> None:
    with connection.cursor() as cursor:
        cursor.execute(BY_HAND)


@pytest.mark.parametrize(
    "comes",
    [
        signed_up,
        added_by_an_administrator,
        made_by_a_command,
        made_by_hand,
        lambda: User.objects.bulk_create([User(username="eve")]),
    ],
    ids=["sign-up", "administration", "command", "SQL", "in bulk"],
)
def test_everybody_has_a_space_under_their_own_number(
    comes: Callable[[], object], transactional_db: None, settings: Any
) -> None:
    settings.SIGNUP_OPEN = True
    comes()

    eve = User.objects.get(username="eve")
    own = Space.objects.get(pk=eve.pk)
    assert (own.kind, own.person, own.name, own.slug) == ("person", eve, "eve", "~eve")


def test_a_space_is_called_like_its_person(ada: User) -> None:
    ada.username = "Ada.Lovelace"
    ada.save()

    assert (ada.own_space.name, ada.own_space.slug) == ("Ada.Lovelace", "~Ada.Lovelace")


def test_ones_own_space_stays_for_as_long_as_one_is_there(ada: User) -> None:
    with pytest.raises(IntegrityError, match="as long as the person"):
        ada.own_space.delete()

    ada.delete()

    assert not Space.objects.exists()


def test_a_teams_number_is_never_a_persons(ada: User, team: Space) -> None:
    assert ada.pk < TEAMS_FROM <= team.pk
    with pytest.raises(IntegrityError, match="space_is_a_persons_or_a_teams"):
        Space.objects.create(pk=TEAMS_FROM - 1, name="Low", slug="low")
    with pytest.raises(IntegrityError, match="space_is_a_persons_or_a_teams"):
        User.objects.create(pk=TEAMS_FROM, username="high")


def test_nobody_else_has_a_part_in_ones_own_space(ada: User, bob: User) -> None:
    with pytest.raises(IntegrityError, match="membership_is_of_a_team"):
        Membership.objects.create(space=ada.own_space, user=bob)
    with pytest.raises(IntegrityError, match="own_space_or_a_teams"):
        Conversation.objects.create(owner=bob, space=ada.own_space)


def test_a_conversation_is_in_ones_own_space_unless_another_is_named(
    ada: User, team: Space
) -> None:
    own = Conversation.objects.create(owner=ada)
    teams = Conversation.objects.create(owner=ada, space=team)
    in_bulk = Conversation.objects.bulk_create([Conversation(owner=ada)])

    assert (own.space, teams.space) == (ada.own_space, team)
    assert Conversation.objects.get(pk=in_bulk[0].pk).space == ada.own_space


@pytest.mark.parametrize("change", [{"space": "team"}, {"kind": "trial"}])
def test_a_conversation_with_runs_stays_where_it_is_counted_and_found(
    asked: Callable[..., Run], team: Space, change: dict[str, Any]
) -> None:
    run = asked([])
    fields = {"space": team} if "space" in change else change

    with pytest.raises(IntegrityError, match="has runs"):
        Conversation.objects.filter(pk=run.conversation_id).update(**fields)

    assert Conversation.objects.get().kind == "chat"


def test_an_empty_conversation_may_be_moved(conversation: Conversation, team: Space) -> None:
    conversation.space = team
    conversation.save()

    assert team.conversations.get() == conversation


@pytest.mark.parametrize(
    ("role", "kind", "may_ask"),
    [
        *(("member", "chat", True), ("member", "trial", False)),
        *(("reviewer", "chat", False), ("reviewer", "import", False)),
        *(("analyst", "chat", True), ("analyst", "trial", True), ("analyst", "fork", True)),
        *(("admin", "chat", True), ("admin", "import", True)),
        *((None, "chat", False), (None, "trial", False)),
    ],
)
def test_who_asks_in_a_team_goes_by_their_role(
    ask_in: Callable[..., Run], team: Space, ada: User, role: str | None, kind: str, may_ask: bool
) -> None:
    conversation = Conversation.objects.create(owner=ada, space=team, kind=kind)
    parts = Membership.objects.filter(user=ada)
    if role is None:
        parts.delete()
    else:
        parts.update(role=role)

    if may_ask:
        ask_in(conversation)
    else:
        with pytest.raises(InvalidQuestion, match="team's space"):
            ask_in(conversation)

    assert conversation.runs.exists() is may_ask


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


def test_what_a_person_began_in_a_team_goes_with_them_and_the_rest_stays(
    ask_in: Callable[..., Run], team: Space, ada: User, bob: User
) -> None:
    ask_in(Conversation.objects.create(owner=ada, space=team))
    kept = ask_in(Conversation.objects.create(owner=bob, space=team))
    Membership.objects.filter(user=ada).delete()

    deleted = delete_person(ada)

    assert (deleted.conversations, deleted.runs) == (1, 1)
    assert list(Run.objects.all()) == [kept]
    assert set(Space.objects.all()) == {team, bob.own_space}


def test_a_persons_file_tells_their_teams_and_what_they_began_there(
    ask_in: Callable[..., Run], team: Space, ada: User, bob: User, tmp_path: Path
) -> None:
    own = ask_in(Conversation.objects.create(owner=ada))
    teams = ask_in(Conversation.objects.create(owner=ada, space=team))
    ask_in(Conversation.objects.create(owner=bob, space=team))
    file = tmp_path / "ada.zip"

    call_command("people", "export", "ada", str(file), stdout=StringIO())

    with zipfile.ZipFile(file) as archive:
        account = json.loads(archive.read("account.json"))
        conversations = json.loads(archive.read("conversations.json"))
    assert account["teams"] == [{"space": "red", "name": "Red team", "role": "member"}]
    assert [(one["space"], one["runs"]) for one in conversations] == [
        ("~ada", [own.pk]),
        ("red", [teams.pk]),
    ]


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
