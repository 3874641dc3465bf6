"""What may be chosen is what is offered, however a question comes; and a conversation keeps it."""

import re
import uuid
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from agents.providers.named.provider import NamedProvider
from agents.providers.named.providers import NamedProviders
from chat.live.access import Access
from chat.live.client_frames import Send
from chat.live.commands import execute
from chat.models import Conversation, Run, User
from chat.policies import publish_seeds
from chat.runs.models_offered import current_model, model_menu
from chat.runs.validation import InvalidQuestion

pytestmark = pytest.mark.services

CHOSEN = re.compile(r'value="east/org/big"\s+checked')
NOTHING = {"TURNSTONE_LOCAL_SERVERS": "none"}


@pytest.fixture
def offered(settings: Settings, transactional_db: None) -> None:
    """Offer two models of east; north's key is not there."""
    publish_seeds()
    settings.PROVIDERS = NamedProviders(
        NamedProvider(
            name=name,
            dialect="openai",
            address="http://127.0.0.1:9/v1",
            key=f"{name.upper()}_API_KEY",
            models=("small", "org/big"),
        )
        for name in ("north", "east")
    )
    settings.MODEL_ENVIRONMENT = NOTHING | {"EAST_API_KEY": "sk-east"}


def form(model: str) -> dict[str, Any]:
    message = str(uuid.uuid4())
    return {"text": "2 + 2?", "policy": "explicit", "model": model, "client_message_id": message}


@pytest.mark.usefixtures("offered")
def test_only_those_are_offered_whose_key_is_there() -> None:
    assert [model.value for model in model_menu().models] == ["east/small", "east/org/big"]
    assert (current_model().provider, current_model().model) == ("east", "small")


@pytest.mark.usefixtures("offered")
def test_a_form_chooses_and_the_conversation_keeps_it(ada: User, client: Client) -> None:
    client.force_login(ada)

    answer = client.post("/conversations/new/", form("east/org/big"), follow=True)

    run = Run.objects.get()
    assert (run.chosen_provider, run.chosen_model) == ("east", "org/big")
    assert CHOSEN.search(answer.content.decode())
    assert CHOSEN.search(client.get("/").content.decode())


@pytest.mark.usefixtures("offered")
def test_the_choice_of_one_person_is_not_anothers(ada: User, bob: User, client: Client) -> None:
    client.force_login(ada)
    client.post("/conversations/new/", form("east/org/big"))

    client.force_login(bob)

    assert not CHOSEN.search(client.get("/").content.decode())


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize("model", ["north/small", "east/other", "small", "east/\0"])
def test_what_is_not_offered_is_refused(
    ada: User, client: Client, conversation: Conversation, model: str
) -> None:
    client.force_login(ada)
    answer = client.post(conversation.get_absolute_url(), form(model))
    frame = Send.model_validate({"type": "send", **form(model)})
    with pytest.raises(InvalidQuestion, match="no such model any more"):
        execute(frame, Access(conversation, ada.pk, is_owner=True))

    assert answer.status_code == 422
    assert not Run.objects.exists()


def test_where_there_is_no_choice_no_menu_is_shown(
    settings: Settings, ada: User, client: Client
) -> None:
    settings.MODEL_ENVIRONMENT = NOTHING | {"OPENAI_API_KEY": "k", "TURNSTONE_MODEL": "m"}
    client.force_login(ada)

    page = client.get("/").content.decode()

    assert 'id="models"' not in page
    assert '<span class="composer__hint"\n        >m</span>' in page


def test_each_server_of_the_variables_may_be_chosen(settings: Settings) -> None:
    settings.MODEL_ENVIRONMENT = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}

    assert [one.provider for one in model_menu().models] == ["openai", "anthropic"]
