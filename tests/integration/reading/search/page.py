"""The page of results, as a browser gets it, and what it shows."""

import re
from html import unescape

from django.test import Client


def page_of(client: Client, query: str = "", **parameters: str) -> str:
    """Return the page of results, as the browser gets it."""
    answer = client.get("/search/", {"q": query, **parameters})
    assert answer.status_code == 200
    return answer.content.decode()


def links(page: str) -> list[str]:
    return [unescape(url) for url in re.findall(r'hit__link" href="([^"]*)"', page)]
