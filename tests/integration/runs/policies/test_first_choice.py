"""Which policy the page chooses before a person has: the one that suits the model."""

import re

import pytest
from django.test import Client
from pytest_django import Settings

from chat.models import Policy, User
from chat.policies import publish_seeds

SELECTED = re.compile(r'<option value="(?P<slug>[\w-]+)" selected>')


def chosen(client: Client) -> str:
    found = SELECTED.search(client.get("/").content.decode())
    assert found is not None
    return found["slug"]


@pytest.mark.parametrize(
    ("environment", "slug"),
    [
        ({"TURNSTONE_LOCAL_SERVERS": "none"}, "explicit"),
        ({"TURNSTONE_LOCAL_SERVERS": "none", "OPENAI_API_KEY": "k"}, "native"),
    ],
    ids=["the demo", "a server"],
)
def test_a_newcomer_is_given_what_suits_the_model(
    transactional_db: None,
    ada: User,
    client: Client,
    settings: Settings,
    environment: dict[str, str],
    slug: str,
) -> None:
    publish_seeds()
    settings.MODEL_ENVIRONMENT = environment
    client.force_login(ada)

    assert chosen(client) == slug


def test_without_native_calls_the_page_chooses_a_policy_in_text(
    transactional_db: None, ada: User, client: Client, settings: Settings
) -> None:
    publish_seeds()
    Policy.objects.filter(slug="native").update(is_offered=False)
    settings.MODEL_ENVIRONMENT = {"TURNSTONE_LOCAL_SERVERS": "none", "OPENAI_API_KEY": "k"}
    client.force_login(ada)

    assert chosen(client) == "explicit"
