"""The pages that say what went wrong, and what a browser asks for by itself."""

from pathlib import Path

import pytest
from django.test import Client, RequestFactory
from django.urls import get_resolver

ERRORS = sorted(path.name for path in Path("templates").glob("[45]*.html"))


def test_a_page_that_is_not_there_wears_the_theme_that_was_chosen(db: None) -> None:
    browser = Client()
    browser.cookies["theme"] = "dark"

    page = browser.get("/no/such/page/")

    assert page.status_code == 404
    assert b'data-theme="dark"' in page.content


@pytest.mark.parametrize(("cookie", "theme"), [("dark", "dark"), ("", ""), ('"><script>', "")])
def test_a_page_that_broke_wears_the_theme_that_was_chosen_and_asks_no_database(
    cookie: str, theme: str
) -> None:
    request = RequestFactory().get("/")
    request.COOKIES["theme"] = cookie

    page = get_resolver().resolve_error_handler(500)(request)

    assert page.status_code == 500
    assert f'data-theme="{theme}"' in page.content.decode()


def test_a_browser_that_asks_for_a_picture_unasked_is_led_to_it(db: None) -> None:
    answer = Client().get("/favicon.ico")

    assert answer.status_code == 302
    assert answer.headers["Location"].endswith(".svg")
