"""Who guesses passwords is held up, and nobody else by them; who signs in stays on this site."""

import re
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import Client
from django.urls import reverse

from chat import accounts
from chat.models import User

GUESSES = 10
"""How many failed sign-ins from one address are let through a minute."""
OF_ONE_NAME = 5
"""How many of them for one name, in five minutes."""

HOME, STRANGE = "203.0.113.7", "198.51.100.9"


class Counting(PBKDF2PasswordHasher):
    """Count the passwords that are looked at."""

    looked_at = 0

    def verify(self, password: str, encoded: str) -> bool:
        """Look at one."""
        Counting.looked_at += 1
        return super().verify(password, encoded)


@pytest.fixture
def ada(db: None) -> User:
    """Make a member with a password."""
    return User.objects.create_user("ada", password="ada-secret-1")


@pytest.fixture
def one_proxy(settings: Any) -> None:
    """Stand behind a proxy, which tells the browser's address."""
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1


@pytest.fixture
def counted(settings: Any) -> type[Counting]:
    """Count the passwords that are looked at from now on."""
    settings.PASSWORD_HASHERS = [f"{__name__}.Counting"]
    Counting.looked_at = 0
    return Counting


def _guess(address: str, name: str, password: str = "a guess", host: str = "testserver") -> str:  # noqa: S107
    page = Client().post(
        reverse("account_login"),
        {"login": name, "password": password},
        headers={"X-Forwarded-For": address, "Host": host},
    )
    return "in" if page.status_code == 302 else page.content.decode()


@pytest.mark.parametrize(
    ("proxies", "gets_in"), [(1, True), (0, False)], ids=["told of the proxy", "not told"]
)
def test_guesses_are_counted_by_the_address_that_the_trusted_proxy_saw(
    settings: Any, ada: User, proxies: int, gets_in: bool
) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies
    for number in range(GUESSES):
        _guess(HOME, f"nobody-{number}")
    assert "Too many" in _guess(HOME, ada.username, "ada-secret-1")
    assert (_guess(STRANGE, ada.username, "ada-secret-1") == "in") == gets_in


def test_a_proxy_that_nobody_told_of_is_named_in_the_log(
    ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    accounts.warn_of_proxy.cache_clear()  # it is told once a process

    _guess(STRANGE, ada.username, "ada-secret-1")

    assert "TURNSTONE_PROXIES" in caplog.text


@pytest.mark.parametrize("door", ["/admin/login/", "/accounts/login/"])
def test_the_fifteenth_wrong_password_of_an_administrator_is_refused_unseen(
    counted: type[Counting], transactional_db: None, door: str
) -> None:
    User.objects.create_superuser("root", password="root-secret-1")
    for number in range(14):
        _knock(door, f"wrong-{number}")
    before = counted.looked_at
    refused = _knock(door, "wrong-14")
    right = _knock(door, "root-secret-1")

    assert "Too many" in refused.content.decode()
    assert "Too many" in right.content.decode()
    assert before <= OF_ONE_NAME
    assert counted.looked_at == before


def _knock(door: str, password: str) -> Any:
    """Give a password at a door, and once more where that sends one on to."""
    client = Client()
    fields = {"username": "root", "login": "root", "password": password}
    page = client.post(door, {**fields, "next": "/admin/"})
    return client.post(page.headers["Location"], fields) if page.status_code == 302 else page


def test_who_comes_to_the_administration_signs_in_where_everybody_does(db: None) -> None:
    User.objects.create_superuser("root", password="root-secret-1")
    client = Client()
    page = client.get("/admin/", follow=True)

    assert page.request["PATH_INFO"] == "/accounts/login/"
    inside = client.post(
        f"{page.request['PATH_INFO']}?{page.request['QUERY_STRING']}",
        {"login": "root", "password": "root-secret-1"},
    )
    assert inside.headers["Location"] == "/admin/"


def test_a_member_is_told_that_the_administration_is_not_for_them(ada: User) -> None:
    client = Client()
    client.force_login(ada)

    assert client.get("/admin/", follow=True).status_code == 403


def test_the_old_password_is_asked_for_at_one_place(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))

    page = client.post("/admin/password_change/", {"old_password": "a guess"})

    assert page.headers["Location"] == "/accounts/password/change/"


def test_who_is_locked_out_is_told_for_how_long(ada: User) -> None:
    for _ in range(OF_ONE_NAME):
        _guess(HOME, ada.username)

    assert "Try again in 5 minutes." in _guess(HOME, ada.username)


def test_an_address_that_is_held_up_is_told_for_how_long(ada: User) -> None:
    for number in range(GUESSES):
        _guess(HOME, f"nobody-{number}")

    assert re.search(r"Try again in (1 minute|\d+ seconds)\.", _guess(HOME, "nobody-else"))


def test_a_stranger_does_not_lock_an_owner_out(one_proxy: None, ada: User) -> None:
    for _ in range(OF_ONE_NAME + 1):
        _guess(STRANGE, ada.username)

    assert "Too many" in _guess(STRANGE, ada.username, "ada-secret-1")
    assert _guess(HOME, ada.username, "ada-secret-1") == "in"


def test_guesses_from_many_addresses_are_counted_together(
    one_proxy: None, settings: Any, ada: User
) -> None:
    settings.ACCOUNT_RATE_LIMITS |= {"login_failed_anywhere": "12/h/key"}
    for number in range(12):
        _guess(f"198.51.100.{number}", ada.username)

    assert "Try again in 60 minutes." in _guess(HOME, ada.username, "ada-secret-1")


def test_another_name_of_the_server_gives_no_further_guesses(
    one_proxy: None, ada: User, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "localhost"]
    for number in range(OF_ONE_NAME):
        _guess(HOME, ada.username, host=f"localhost:{8000 + number}")

    assert "Too many" in _guess(HOME, ada.username, "ada-secret-1")


@pytest.mark.parametrize(
    ("to", "goes"),
    [
        ("/search/", "/search/"),
        ("http://testserver/search/", "http://testserver/search/"),
        ("http://localhost/", "/"),
        ("http://127.0.0.1:8000/", "/"),
        ("//localhost/", "/"),
    ],
)
def test_nobody_is_sent_from_a_server_to_their_own_machine(
    settings: Any, ada: User, to: str, goes: str
) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]

    page = Client().post(
        "/accounts/login/", {"login": "ada", "password": "ada-secret-1", "next": to}
    )

    assert page.headers["Location"] == goes
