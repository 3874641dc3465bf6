"""An extension that pip installed stands in the menu and works; taken away, people are told."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from chat.models import User
from tests.e2e.asking import ask, last_run
from tests.extensions import TEMPLATE, install, scratch_environment

POLICY = "Grounded storekeeper"


@pytest.fixture
def extended(stack: Any, tmp_path: Path) -> Iterator[Any]:
    """Give the product in an environment of its own, with the template installed."""
    programs = scratch_environment(tmp_path / "venv")
    shutil.copytree(TEMPLATE, tmp_path / "warehouse")
    install(programs, tmp_path / "warehouse")
    stack.take_python(str(programs / "python"))
    stack.manage("migrate")
    yield stack
    stack.take_python()


def test_an_installed_extension_is_asked_in_the_page_and_one_that_is_gone_is_told(
    ada: User, extended: Any, page: Page
) -> None:
    page.goto("/")
    ask(page, "How many nails are there?", POLICY)

    expect(last_run(page)).to_contain_text("There are 1200 nails in stock.")
    expect(last_run(page).locator(".run__words")).to_contain_text("Answered in 2 steps")

    extended.take_python()
    page.reload()
    ask(page, "How many screws are there?", POLICY)

    expect(last_run(page)).to_contain_text("There is no provider 'storekeeper'")
    expect(last_run(page)).to_contain_text("that extension is not loaded here")
    expect(page.get_by_text("There are 1200 nails in stock.")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)
