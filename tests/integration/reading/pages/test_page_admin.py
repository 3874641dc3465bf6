"""The administration reads the record and does not change it."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from chat.models import Run, User
from chat.runs.worker.claim import claim
from tests.integration.reading.stored_calls import stored_call

TellRun = Callable[..., Run]
NAMES = ["conversation", "run", "turn", "modelcall", "policy", "policyversion", "user"]


@pytest.fixture
def root(db: None) -> Client:
    """Sign in somebody who may do everything."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.mark.parametrize("name", NAMES)
def test_every_list_can_be_read(root: Client, ada: User, tell: TellRun, name: str) -> None:
    tell(ada, {"thought": "Hm."})

    assert root.get(f"/admin/chat/{name}/").status_code == 200


def test_a_run_can_be_read_and_not_changed(root: Client, ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "Hm."}, answer="So.")
    page = f"/admin/chat/run/{run.pk}/"

    assert root.get(f"{page}change/").status_code == 200
    assert root.post(f"{page}change/", {"answer": "Other."}).status_code == 403
    assert root.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    run.refresh_from_db()
    assert run.answer == "So."


def test_a_member_sees_no_administration(ada: User) -> None:
    client = Client()
    client.force_login(ada)

    assert client.get("/admin/").status_code == 302


def rows(page: str) -> list[str]:
    return re.findall(r"<tr>(.*?)</tr>", page.partition("<tbody>")[2], re.DOTALL)


def test_runs_are_listed_newest_first_with_who_asked_what_they_took_and_their_transcript(
    root: Client, ada: User, bob: User, tell: TellRun
) -> None:
    first = tell(ada, input_tokens=1_204, output_tokens=96)
    second = tell(bob)

    newest, oldest = rows(root.get("/admin/chat/run/").content.decode())

    assert f'href="/runs/{second.pk}/"' in newest
    assert "bob" in newest
    assert f'href="/runs/{first.pk}/"' in oldest
    for words in ("ada", "1,204 / 96", "3.0 s"):
        assert words in oldest


def test_runs_are_chosen_by_day_and_by_person(
    root: Client, ada: User, bob: User, tell: TellRun
) -> None:
    mine = tell(ada)
    old = tell(ada)
    Run.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=40))
    tell(bob)

    page = root.get("/admin/chat/run/").content.decode()
    since = str(timezone.now() - timedelta(days=7))
    week = {"created_at__gte": since, "person": str(ada.pk)}
    chosen = root.get("/admin/chat/run/", week).content.decode()

    assert f"?person={ada.pk}" in page
    assert "created_at__gte" in page
    (row,) = rows(chosen)
    assert f'href="/runs/{mine.pk}/"' in row
    assert len(rows(root.get("/admin/chat/run/?reason=").content.decode())) == 3
    assert rows(root.get("/admin/chat/run/?reason=turns").content.decode()) == []
    for strange in ("x", "9" * 30, "-1"):
        assert rows(root.get(f"/admin/chat/run/?person={strange}").content.decode()) == []


def test_an_action_of_millions_of_characters_is_a_small_page(
    root: Client, ada: User, tell: TellRun
) -> None:
    run = tell(
        ada,
        {
            "observation": "<b>\u202e" + "x" * 5_000_000,
            "tool": "f",
            "inputs": {"code": "y" * 50_000},
        },
    )

    action = run.turns.get().stored_actions.get()
    page = root.get(f"/admin/chat/action/{action.pk}/change/").content.decode()

    assert len(page) < 100_000
    assert "4,990,004 more characters are in the transcript" in page
    assert "&lt;b&gt;" in page
    assert "U+202E" in page


def test_what_a_policy_does_is_read_line_by_line(root: Client, ada: User, tell: TellRun) -> None:
    version = tell(ada).policy_version

    page = root.get(f"/admin/chat/policyversion/{version.pk}/change/").content.decode()

    assert "\n  &quot;tools&quot;: [\n    &quot;calculator&quot;\n  ]" in page


def test_a_turn_of_millions_of_characters_is_a_small_page(
    root: Client, ada: User, tell: TellRun
) -> None:
    turn = tell(ada, {"thought": "<b>\u202e" + "x" * 5_000_000}).turns.get()

    page = root.get(f"/admin/chat/turn/{turn.pk}/change/").content.decode()

    assert len(page) < 100_000
    assert "4,990,004 more characters are in the transcript" in page


def test_every_record_can_be_opened(root: Client, ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "Hm.", "tool": "calculator"})
    call = stored_call(run, 0, "{}", reply="r")

    for name, pk in (
        ("conversation", run.conversation_id),
        ("run", run.pk),
        ("turn", run.turns.get().pk),
        ("action", run.turns.get().stored_actions.get().pk),
        ("modelcall", call.pk),
    ):
        assert root.get(f"/admin/chat/{name}/{pk}/change/").status_code == 200


def act(client: Client, action: str, *runs: Run) -> str:
    chosen = {"action": action, "_selected_action": [run.pk for run in runs]}
    answer = client.post("/admin/chat/run/", chosen, follow=True)
    return answer.content.decode()


def test_an_administrator_stops_runs_from_their_list(
    root: Client, asked: Callable[..., Run], ada: User, tell: TellRun
) -> None:
    waiting, ended = asked([{"say": "hm"}]), tell(ada, answer="So.")

    page = act(root, "stop_runs", waiting, ended)

    waiting.refresh_from_db()
    assert (waiting.status, waiting.message) == ("stopped", "Stopped by an administrator.")
    assert "1 to stop. 1 had ended already." in page


def test_an_administrator_gives_a_run_to_another_worker(
    root: Client, asked: Callable[..., Run], ada: User, tell: TellRun
) -> None:
    held = claim(asked([{"say": "hm"}]).pk, "far:1:x")
    assert held is not None

    page = act(root, "requeue_runs", held, tell(ada, answer="So."))

    held.refresh_from_db()
    assert held.status == "interrupted"
    assert "was taken from far:1:x and put back into the queue" in page
    assert "has ended (succeeded); ask its question again." in page


def test_who_may_only_look_at_runs_stops_none(asked: Callable[..., Run], db: None) -> None:
    looker = User.objects.create_user("looker", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_run"))
    client = Client()
    client.force_login(looker)
    run = asked([{"say": "hm"}])

    assert client.get("/admin/chat/run/").status_code == 200
    act(client, "stop_runs", run)

    run.refresh_from_db()
    assert run.is_live
