"""What is asked in a team's space is read by the team and by nobody else; only its asker writes."""

from collections.abc import Callable

import pytest
from django.db.models import Model, QuerySet
from django.test import Client

from chat.governance import door
from chat.models import Conversation, Membership, Run, Space, SpaceRole, User
from chat.search.find import find
from chat.search.language.query import parse
from chat.search.recall import find_turns

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]
Rows = Callable[[User], QuerySet[Model]]

READABLE = [door.readable_conversations, door.readable_runs, door.readable_documents]
OF_A_RUN = [
    "",
    "rows/",
    "transcript.json",
    "transcript.md",
    "answer.md",
    "turns/1/actions/1/observation.txt",
]
OF_THE_OWNER = ["", "rename/", "delete/"]


@pytest.fixture
def eve(db: None) -> User:
    """Make a member who belongs to no team."""
    return User.objects.create_user("eve")


@pytest.fixture
def run(ada: User, team: Space, tell: TellRun) -> Run:
    """Store a run that Ada asked in the team's space."""
    home = Conversation.objects.create(owner=ada, space=team, title="Ours")
    return tell(
        ada,
        {"thought": "Hm.", "tool": "calculator", "inputs": {}, "observation": "A pangolin."},
        conversation=home,
        answer="Two.",
    )


@pytest.fixture
def own(ada: User, tell: TellRun) -> Run:
    """Store a run that Ada asked in her own space."""
    return tell(ada, {"thought": "Hm.", "observation": "My own pangolin."})


@pytest.mark.parametrize("rows", READABLE)
@pytest.mark.parametrize("role", SpaceRole.values)
def test_everybody_of_a_team_reads_what_is_asked_there_and_nothing_else_of_the_asker(
    rows: Rows, role: str, run: Run, own: Run, bob: User
) -> None:
    Membership.objects.filter(user=bob).update(role=role)

    assert rows(bob).count() == 1


@pytest.mark.parametrize("rows", READABLE)
def test_who_is_of_no_team_reads_nothing_of_one(rows: Rows, run: Run, eve: User) -> None:
    other = Space.objects.create(name="Blue team", slug="blue")
    Membership.objects.create(space=other, user=eve, role="admin")

    assert not rows(eve).exists()


@pytest.mark.parametrize("rows", READABLE)
def test_who_has_left_a_team_reads_nothing_of_it_not_even_their_own(
    rows: Rows, run: Run, ada: User
) -> None:
    Membership.objects.filter(user=ada).delete()

    assert not rows(ada).exists()
    assert not door.own_conversations(ada).exists()
    assert not door.own_runs(ada).exists()
    assert door.begun_conversations(ada).count() == door.asked_runs(ada).count() == 1


@pytest.mark.parametrize("path", OF_A_RUN)
def test_a_teams_run_is_read_on_each_page_by_the_team_and_found_by_no_stranger(
    path: str, run: Run, ada: User, bob: User, rita: User, eve: User, browse: Browse
) -> None:
    for reader, status in ((ada, 200), (bob, 200), (rita, 200), (eve, 404)):
        assert browse(reader).get(f"/runs/{run.pk}/{path}").status_code == status


@pytest.mark.parametrize("path", OF_THE_OWNER)
def test_only_who_began_it_writes_in_a_teams_conversation(
    path: str, run: Run, bob: User, rita: User, eve: User, browse: Browse
) -> None:
    page = f"/conversations/{run.conversation_id}/{path}"
    for other in (bob, rita, eve):
        answer = browse(other).post(page, {"title": "Mine", "text": "Hi", "policy": "explicit"})
        assert answer.status_code == 404

    assert Conversation.objects.get().title == "Ours"
    assert Run.objects.count() == 1


def test_a_teammate_stops_nothing_and_asks_nothing_again(
    ada: User, team: Space, bob: User, tell: TellRun, browse: Browse
) -> None:
    home = Conversation.objects.create(owner=ada, space=team)
    run = tell(ada, status="queued", conversation=home)

    stopped = browse(bob).post(f"/runs/{run.pk}/stop/")
    again = browse(bob).post(f"/runs/{run.pk}/again/", {"policy": "explicit"})

    run.refresh_from_db()
    assert (stopped.status_code, again.status_code, run.status) == (404, 404, "queued")


def test_a_teams_run_is_found_by_the_team_and_by_nobody_else(
    run: Run, own: Run, ada: User, bob: User, eve: User, browse: Browse
) -> None:
    def seen(user: User) -> tuple[int, str]:
        page = browse(user).get("/search/?q=pangolin").text
        return len(find(user, parse("pangolin")).turn_ids), page

    hers, his, none = seen(ada), seen(bob), seen(eve)

    assert [count for count, _ in (hers, his, none)] == [2, 1, 0]
    assert '<span class="hit__user">ada</span>' in his[1]
    assert "My own" not in his[1]


def test_an_agent_in_a_teams_space_finds_the_teams_turns_and_not_its_askers_own(
    run: Run, own: Run, team: Space, ada: User
) -> None:
    in_team = find_turns(ada, space_id=team.pk)("pangolin")
    in_own = find_turns(ada)("pangolin")

    assert [turn.run for turn in in_team] == [run.pk]
    assert [turn.run for turn in in_own] == [own.pk]


def test_two_runs_are_compared_by_who_reads_both(
    run: Run, own: Run, ada: User, bob: User, eve: User, tell: TellRun, browse: Browse
) -> None:
    his, none = tell(bob, {"thought": "Hm."}), tell(eve, {"thought": "Hm."})

    def compare(user: User, one: Run, other: Run) -> int:
        return browse(user).get(f"/runs/{one.pk}/compare/{other.pk}/").status_code

    assert compare(bob, his, run) == compare(ada, own, run) == 200
    assert compare(bob, run, own) == compare(eve, none, run) == 404


def test_what_one_began_in_a_team_is_on_ones_own_list_and_on_no_teammates(
    run: Run, ada: User, bob: User, browse: Browse
) -> None:
    link = f"/conversations/{run.conversation_id}/"

    assert link in browse(ada).get("/").text
    assert link not in browse(bob).get("/").text
