"""Everybody has a space of their own, whatever way they came in by, and teams share theirs."""

import json
import zipfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection
from django.test import Client

from chat.models import Conversation, Membership, Run, Space, User
from chat.models.space import TEAMS_FROM
from chat.people.deletion import delete_person
from chat.runs.validation import InvalidQuestion

PASSWORD = "turn of the tide"

BY_HAND = """
INSERT INTO chat_user (password, is_superuser, username, first_name, last_name, email, is_staff,
  is_active, date_joined)
VALUES ('', false, 'eve', '', '', '', false, true, now())
"""


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
