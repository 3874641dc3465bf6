"""A real browser over a local site."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from agents.tools.browser.session import find_chromium
from agents.tools.browser.tools import browser_tools
from agents.tools.toolkit import Toolkit
from agents.tools.web.address import reach_of
from tests.unit.agents.tools.browser.driving import browsers

SHOP = """<!doctype html><title>Shop</title><h1>Lamps</h1><p>Choose one.</p>
<form action="/found"><label>Name <input name="q"></label>
<select name="size" aria-label="Size"><option>small</option><option>large</option></select>
<button>Search</button></form><a href="/about">About us</a>
<input type="password" aria-label="Secret" value="hunter2"><button hidden>Unseen</button>
<p id="out">not clicked</p>
<button onclick="document.getElementById('out').textContent='it was clicked'">Press me</button>"""


@pytest.fixture(scope="module")
def chromium() -> str:
    found, reason = find_chromium(os.environ.get("TURNSTONE_CHROMIUM", ""))
    assert found, f"The tests need a Chromium: {reason}"
    return found


@pytest.fixture
def kit(chromium: str, site: Any, wait_for: Any) -> Iterator[Toolkit]:
    site.says("/shop", SHOP)
    site.says("/about", "<title>About</title><p>We sell lamps.")
    site.answers(
        "/found", lambda asked: (200, {"Content-Type": "text/html"}, repr(asked.query).encode())
    )
    kit = Toolkit(browser_tools(chromium, reach_of([site.place])))
    yield kit
    kit.close()
    wait_for(lambda: not browsers(), "the browser's end")
