"""Who guesses passwords is held up, by the address that the guesses come from."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import User

GUESSES = 10
"""How many failed sign-ins from one address are let through a minute."""


def _guess(address: str, name: str, password: str) -> str:
    page = Client().post(
        reverse("account_login"),
        {"login": name, "password": password},
        headers={"X-Forwarded-For": address},
    )
    return "in" if page.status_code == 302 else page.content.decode()


@pytest.mark.parametrize(
    ("proxies", "other"), [(1, "in"), (0, "Too many")], ids=["told of the proxy", "not told"]
)
def test_guesses_are_counted_by_the_address_that_the_trusted_proxy_saw(
    settings: Any, ada: User, proxies: int, other: str
) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies
    for number in range(GUESSES):
        _guess("203.0.113.7", f"nobody-{number}", "a guess")
    assert "Too many" in _guess("203.0.113.7", ada.username, "ada-secret-1")
    assert other in _guess("198.51.100.9", ada.username, "ada-secret-1")
