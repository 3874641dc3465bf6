"""What a newcomer does first, on what `make run` starts: sign in, ask, watch, read it again."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.asking import ask

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("agents", "chat", "project", "static", "templates", "manage.py")
TOLD = re.compile(r"ready at (\S+)\s+Sign in as (\S+) with the password (\S+)")
OURS = ("DATABASE_URL", "REDIS_URL", "TURNSTONE_ARTIFACTS", "ALLOWED_HOSTS", "HOST")


@pytest.fixture
def told(tmp_path: Path, wait_for: Callable[..., None]) -> Iterator[tuple[str, str, str]]:
    """Start everything in a checkout of its own; return address, name and password as printed."""
    checkout = tmp_path / "a check out"
    checkout.mkdir()
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, checkout / part)
    kept = {k: v for k, v in os.environ.items() if k not in OURS and not k.startswith("OPENAI_")}
    output = tmp_path / "output"
    with output.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "project.local.start"],
            cwd=checkout,
            env=kept | {"PORT": "0", "TURNSTONE_LOCAL_SERVERS": "none"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for(lambda: TOLD.search(output.read_text()), "the sign-in to be printed", seconds=60)
        found = TOLD.search(output.read_text())
        assert found is not None
        yield found[1], found[2], found[3]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(40)


def test_a_newcomer_signs_in_asks_watches_and_reads_the_transcript(
    told: tuple[str, str, str], window: Callable[..., Page]
) -> None:
    address, name, password = told
    page = window(base_url=address)
    page.goto("/")
    page.get_by_label("User name or email").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("rule-based").first).to_be_visible()

    ask(page, "What is 37 * 43 + 12?")
    run = page.locator(".run").last
    expect(run.locator(".run__words")).to_contain_text(re.compile("Thinking|Running"))
    expect(run.locator(".turn__tool").first).to_have_text("calculator")
    expect(run.locator(".run__answer")).to_contain_text("1603")
    ask(page, "Run this Python:\n```python\nprint(sum(range(101)))\n```")
    expect(page.locator(".run")).to_have_count(2)
    expect(page.locator(".run").last.locator(".run__answer")).to_contain_text("5050")

    page.locator(".run").last.get_by_role("link", name="Transcript").click()
    turn = page.locator(".turn").first
    expect(turn.locator(".turn__tool")).to_have_text("python_repl")
    expect(turn.locator(".turn__action")).to_contain_text("print(sum(range(101)))")
    expect(turn.locator(".turn__observation")).to_contain_text("5050")
