"""What an extension brings is offered, run and verified; when it is gone, people are told."""

import logging
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import AsyncClient, Client

from agents.providers.brought import BROUGHT
from chat.extensions import extensions
from chat.models import Conversation, Policy, Run, User
from chat.operations.verify import Verdict
from chat.people.roles import Role, give_role
from chat.policies import offered, publish_seeds
from chat.runs.ask import ask
from tests.extensions import TEMPLATE, forgotten_afterwards
from tests.integration.here import here
from tests.integration.runs.record.verdicts import verdict

SLUG = "warehouse-grounded"


@pytest.fixture
def start(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Load the extensions anew, as a process that starts: `start("turnstone_warehouse")`."""
    monkeypatch.syspath_prepend(TEMPLATE)

    def start_with(modules: str) -> None:
        settings.EXTENSIONS = modules
        extensions.cache_clear()
        extensions()

    with forgotten_afterwards():
        yield start_with
    extensions.cache_clear()


@pytest.fixture
def asked_of_it(conversation: Conversation) -> Callable[[], Run]:
    """Ask a question under the policy that the extension offers, and work on it."""

    def ask_it() -> Run:
        run = ask(
            conversation,
            "How many nails?",
            policy_version=Policy.objects.get(slug=SLUG).latest,
            client_message_id=uuid.uuid4(),
        )
        here().work(run.pk)
        run.refresh_from_db()
        return run

    return ask_it


def test_a_policy_of_an_extension_is_offered_run_and_verified(
    start: Callable[[str], None], asked_of_it: Callable[[], Run]
) -> None:
    start("turnstone_warehouse")
    publish_seeds()
    publish_seeds()

    policy = offered().get(slug=SLUG)
    run = asked_of_it()

    assert (policy.name, policy.versions.count()) == ("Grounded storekeeper", 1)
    assert policy.description.endswith("From the extension warehouse.")
    assert (run.status, run.answer) == ("succeeded", "There are 1200 nails in stock.")
    assert (run.provider, run.model) == ("storekeeper", "rules")
    assert verdict(run) == (Verdict.AGREES, "")


def test_who_asks_under_a_policy_whose_extension_is_gone_is_told(
    start: Callable[[str], None],
    asked_of_it: Callable[[], Run],
    ada: User,
    client: Client,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with forgotten_afterwards():
        start("turnstone_warehouse")
        publish_seeds()
        done = asked_of_it()
    start("")
    publish_seeds()

    with caplog.at_level(logging.INFO):
        run = asked_of_it()

    client.force_login(ada)
    page = client.get(run.conversation.get_absolute_url()).content.decode()
    assert (run.status, run.reason) == ("failed", "configuration")
    assert "There is no provider &#x27;storekeeper&#x27;" in page
    assert "If an extension brought it, that extension is not loaded here." in page
    assert "Whoever runs this Turnstone has to mend that; then ask again." in page
    assert "There are 1200 nails in stock." in page
    assert not any(record.exc_info for record in caplog.records)
    said, why = verdict(done)
    assert said is Verdict.UNKNOWN
    assert "There is no policy 'grounded'" in why


@pytest.mark.parametrize(
    ("gone", "why"),
    [({"policy": "grounded"}, "no policy 'grounded'"), ({"tools": ["stock"]}, "no tool 'stock'")],
)
def test_a_policy_or_a_tool_that_is_gone_is_said(
    asked: Callable[..., Run], gone: dict[str, object], why: str
) -> None:
    run = asked([{"say": "Final Answer: 4"}], **gone)
    here().work(run.pk)
    run.refresh_from_db()

    assert (run.status, run.reason) == ("failed", "configuration")
    assert why in run.message
    assert "not loaded here" in run.message


def test_a_broken_extension_is_logged_and_leaves_the_others(
    start: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        start("turnstone_nowhere,turnstone_warehouse")

    said = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert "storekeeper" in BROUGHT
    assert said[0][0] == "INFO"
    assert said[0][1].startswith("Extension warehouse: tools stock, orders; ")
    assert said[1] == (
        "ERROR",
        "The extension turnstone_nowhere (TURNSTONE_EXTENSIONS) is not loaded: "
        "ModuleNotFoundError: No module named 'turnstone_nowhere'",
    )


async def test_who_keeps_the_machine_is_told_at_readyz_and_nobody_else(
    start: Callable[[str], None], async_client: AsyncClient, transactional_db: None
) -> None:
    start("turnstone_nowhere,turnstone_warehouse")

    told = (await async_client.get("/readyz")).json()
    elsewhere = await async_client.get("/readyz", headers={"X-Forwarded-For": "203.0.113.7"})

    source = "turnstone_warehouse (TURNSTONE_EXTENSIONS)"
    assert told["extensions"]["loaded"] == {"warehouse": source}
    assert list(told["extensions"]["not_loaded"]) == ["turnstone_nowhere (TURNSTONE_EXTENSIONS)"]
    assert elsewhere.json().keys() == {"ready"}


def test_administrators_see_what_is_loaded_and_nobody_else(
    start: Callable[[str], None], ada: User, bob: User, client: Client
) -> None:
    start("turnstone_nowhere,turnstone_warehouse")
    give_role(ada, Role.ADMIN)
    client.force_login(ada)

    page = client.get("/admin/extensions/").content.decode()
    index = client.get("/admin/").content.decode()

    assert "warehouse: tools stock, orders; policies grounded; providers storekeeper" in page
    assert "No module named &#x27;turnstone_nowhere&#x27;" in page
    assert 'href="/admin/extensions/"' in index
    client.force_login(bob)
    assert client.get("/admin/extensions/").status_code == 302
    bob.is_staff = True
    bob.save()
    assert client.get("/admin/extensions/").status_code == 404
