"""A live connection is for the pages of this very site: one scheme, one host and one port.

The page of another program on the same machine comes with the same cookie, so a name is not enough.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.test import Client

from chat.models import Conversation, User

PageOf = Callable[..., Awaitable[Any]]
EventsOf = Callable[..., Awaitable[Any]]
Opens = Callable[..., Awaitable[bool]]

HERE = "127.0.0.1:8000"
HTTPS_PROXY = ((b"x-forwarded-proto", b"https"),)


@pytest.fixture
def opens(page_of: PageOf, ada: User, conversation: Conversation) -> Opens:
    """Tell whether a page's socket is let in: `await opens("http://127.0.0.1:9999")`."""

    async def open_socket(
        origin: str | None, host: str = HERE, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> bool:
        named = (b"origin", origin.encode()) if origin is not None else None
        fields = {"origin": named, "host": (b"host", host.encode()), "headers": headers}
        page = await page_of(ada, conversation, **fields)
        return bool(page.was_accepted)

    return open_socket


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://127.0.0.1:8000", HERE),
        ("http://localhost", "localhost"),
        ("http://localhost", "localhost:80"),
        ("http://localhost:80", "localhost"),
        ("http://LOCALHOST", "localhost"),
        ("http://[::1]:8000", "[::1]:8000"),
    ],
)
async def test_a_page_of_ours_is_let_in(opens: Opens, origin: str, host: str) -> None:
    assert await opens(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://127.0.0.1:9999", HERE),
        ("http://localhost:1", HERE),
        ("http://localhost:8000", HERE),
        ("https://127.0.0.1:8000", HERE),
        ("https://127.0.0.1", "127.0.0.1"),
        ("https://127.0.0.1:80", "127.0.0.1"),
        ("http://[::1]:80", HERE),
        ("http://[::1]:9999", "[::1]:8000"),
        ("http://127.0.0.1:8000@evil.example", HERE),
        ("http://127.0.0.1:8000/page", HERE),
        ("http://127.0.0.1:8000, http://127.0.0.1:9999", HERE),
        ("http://127.0.0.1:80000", HERE),
        ("http://[::1", "[::1]:8000"),
        ("http://evil.example", HERE),
        ("http://evil.example", "evil.example"),
        ("null", HERE),
        ("file://", HERE),
        ("", HERE),
        (None, HERE),
    ],
)
async def test_a_page_of_another_origin_is_refused(
    opens: Opens, origin: str | None, host: str
) -> None:
    assert not await opens(origin, host)


async def test_behind_a_proxy_the_page_has_the_scheme_that_the_proxy_tells(
    opens: Opens, settings: Any
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.ALLOWED_HOSTS = ["chat.example.org"]
    host = "chat.example.org"

    assert await opens("https://chat.example.org", host, HTTPS_PROXY)
    assert await opens("https://chat.example.org", f"{host}:443", HTTPS_PROXY)
    assert not await opens("http://chat.example.org", host, HTTPS_PROXY)
    assert not await opens("https://chat.example.org:8443", host, HTTPS_PROXY)
    assert not await opens("https://chat.example.org", host)


async def test_nobody_but_a_proxy_that_is_told_of_may_name_the_scheme(opens: Opens) -> None:
    assert not await opens(f"https://{HERE}", HERE, HTTPS_PROXY)


async def test_trusted_origins_are_let_in_as_they_are_for_forms(
    opens: Opens, settings: Any
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://chat.example.org", "https://*.example.net:8443"]

    assert await opens("https://chat.example.org")
    assert await opens("https://chat.example.org:443")
    assert await opens("https://one.example.net:8443")
    assert not await opens("http://chat.example.org")
    assert not await opens("https://evil.chat.example.org")
    assert not await opens("https://one.example.net")
    assert not await opens("https://evilexample.net:8443")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ((b"origin", b"http://localhost"), 200),
        ((b"origin", b"http://localhost:9999"), 403),
        ((b"origin", b"null"), 403),
        ((b"sec-fetch-site", b"same-origin"), 200),
        ((b"sec-fetch-site", b"same-site"), 403),
        ((b"sec-fetch-site", b"cross-site"), 403),
    ],
)
async def test_events_are_for_pages_of_ours(
    events_of: EventsOf,
    ada: User,
    conversation: Conversation,
    header: tuple[bytes, bytes],
    status: int,
) -> None:
    page = await events_of(ada, conversation, headers=(header,))

    assert page.status == status


@pytest.mark.parametrize(
    ("origin", "status"), [("http://testserver", 200), ("http://testserver:9999", 403)]
)
async def test_a_wish_is_taken_from_pages_of_ours(
    ada: User, conversation: Conversation, origin: str, status: int
) -> None:
    def post() -> int:
        client = Client(enforce_csrf_checks=True)
        client.force_login(ada)
        client.cookies["csrftoken"] = token = "t" * 32
        path = f"/conversations/{conversation.pk}/frames/"
        wish = json.dumps({"type": "stop", "run": 1})
        headers = {"X-CSRFToken": token, "Origin": origin}
        try:
            answer = client.post(path, wish, content_type="application/json", headers=headers)
            return int(answer.status_code)
        finally:
            connection.close()

    assert await database_sync_to_async(post)() == status
