"""A forgotten password is changed by mail where there is a mail server, and only there."""

import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from chat.models import User
from tests.integration.people.smtp import MailServer

PAGES = ("/accounts/password/reset/", "/accounts/email/", "/accounts/confirm-email/")
NEW = "quite another secret 7"


@pytest.fixture
def mail_server(settings: Any) -> Iterator[MailServer]:
    """Run an installation with a mail server."""
    settings.ROOT_URLCONF = "tests.integration.people.urls_with_mail"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with MailServer() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def alice(db: None) -> User:
    """Make a member with an address."""
    return User.objects.create_user("alice", "alice@example.org", "alice-secret-1")


@pytest.fixture
def signed_in(alice: User) -> Client:
    """Sign Alice in."""
    client = Client()
    client.post("/accounts/login/", {"login": "alice", "password": "alice-secret-1"})
    return client


@pytest.mark.parametrize("page", PAGES)
def test_without_a_mail_server_no_page_offers_mail(signed_in: Client, page: str) -> None:
    for client in (signed_in, Client()):
        assert client.get(page).status_code == 404
        assert client.post(page, {"email": "alice@example.org"}).status_code == 404
    assert "Forgot" not in Client().get("/accounts/login/").text
    assert "Email addresses" not in signed_in.get("/").text


def test_a_forgotten_password_is_changed_by_the_link_in_the_mail(
    mail_server: MailServer, alice: User
) -> None:
    client = Client()
    page = client.get("/accounts/login/")
    assert 'href="/accounts/password/reset/">Forgot your password?' in page.text

    done = client.post("/accounts/password/reset/", {"email": "alice@example.org"}, follow=True)
    (mail,) = mail_server.mails
    link = re.search(r"http://testserver(/\S+)", mail.get_content())
    assert "Look into your mail" in done.text
    assert mail["To"] == "alice@example.org"
    assert link is not None
    form = client.get(link[1], follow=True)
    address = form.redirect_chain[-1][0]
    changed = client.post(address, {"password1": NEW, "password2": NEW}, follow=True)

    assert "Password changed" in changed.text
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    assert "does not work" in Client().get(link[1], follow=True).text


def test_a_stranger_is_told_nothing_of_who_has_an_account(
    mail_server: MailServer, alice: User
) -> None:
    pages = [
        Client().post("/accounts/password/reset/", {"email": f"{name}@example.org"}, follow=True)
        for name in ("alice", "nobody")
    ]

    assert re.sub(r"[\w-]{20,}", "", pages[0].text) == re.sub(r"[\w-]{20,}", "", pages[1].text)
    assert "reset" not in mail_server.mails[1].get_content()


def test_an_address_is_added_confirmed_used_and_removed(
    mail_server: MailServer, signed_in: Client, alice: User
) -> None:
    other = "alice@example.com"
    signed_in.post("/accounts/email/", {"action_add": "", "email": other})
    (link,) = re.findall(r"http://testserver(/\S+)", mail_server.mails[-1].get_content())
    assert f"{other} (not confirmed yet" in signed_in.get("/accounts/email/").text
    assert "is an address of alice" in signed_in.get(link).text

    signed_in.post(link)
    assert f"{other} (confirmed" in signed_in.get("/accounts/email/").text
    signed_in.post("/accounts/email/", {"action_primary": "", "email": other})
    alice.refresh_from_db()
    assert alice.email == other
    signed_in.post("/accounts/email/", {"action_remove": "", "email": "alice@example.org"})

    assert "alice@example.org (" not in signed_in.get("/accounts/email/").text


@pytest.mark.parametrize("wish", ["reset", "add"])
def test_a_mail_server_that_is_away_is_said(
    mail_server: MailServer, settings: Any, signed_in: Client, wish: str
) -> None:
    settings.EMAIL_PORT = 1  # nobody listens there
    settings.EMAIL_TIMEOUT = 2

    if wish == "reset":
        page = Client().post("/accounts/password/reset/", {"email": "alice@example.org"})
    else:
        page = signed_in.post("/accounts/email/", {"action_add": "", "email": "a@example.com"})

    assert page.status_code == 503
    assert "The mail could not be sent" in page.text
