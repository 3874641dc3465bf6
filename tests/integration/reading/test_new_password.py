"""A new password holds for a product that keeps people's transcripts."""

import pytest
from django.test import Client

from chat.models import User

CHANGE = "/accounts/password/change/"
OLD = "the-old-one-of-u2"


@pytest.fixture
def u2(db: None) -> Client:
    """Sign in somebody with a short name."""
    User.objects.create_user("u2", password=OLD, email="margaret@example.org")
    client = Client()
    client.login(username="u2", password=OLD)
    return client


def _change(client: Client, password: str) -> str:
    fields = {"oldpassword": OLD, "password1": password, "password2": password}
    return client.post(CHANGE, fields).content.decode()


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("u2u2u2u2", "at least 12 characters"),
        ("ninechars", "at least 12 characters"),
        ("u2u2u2u2u2u2", "little more than your own name"),
        ("U2-U2-U2-U2-", "little more than your own name"),
        ("margaretmargaret", "little more than your own name"),
        ("Margaret2026!", "little more than your own name"),
        ("ababababababab", "fewer than 5 different characters"),
        ("password1234", "too common"),
    ],
)
def test_a_weak_password_is_refused_in_words(u2: Client, password: str, words: str) -> None:
    assert words in _change(u2, password)
    assert User.objects.get(username="u2").check_password(OLD)


@pytest.mark.parametrize("password", ["turn of the tide", "xq7-kd02-pm4v", "u2 sings at noon"])
def test_a_good_one_is_taken(u2: Client, password: str) -> None:
    _change(u2, password)

    assert User.objects.get(username="u2").check_password(password)


def test_what_is_wanted_is_said_beforehand(u2: Client) -> None:
    page = u2.get(CHANGE).content.decode()

    assert "at least 12 characters" in page
    assert "made of your name" in page
