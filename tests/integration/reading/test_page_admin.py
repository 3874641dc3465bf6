"""The administration reads the record and does not change it."""

from collections.abc import Callable

import pytest
from django.test import Client

from chat.models import Run, User

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
