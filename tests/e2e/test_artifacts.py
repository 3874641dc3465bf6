"""Pictures and very long observations in the browser, which come from the store of artifacts."""

import uuid
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from chat.models import Conversation, Policy, Run, User
from chat.runs.record.moving import move_out
from tests.stored_turns import store_turn

LOADED = "picture => picture.complete && [picture.naturalWidth, picture.naturalHeight]"
ICON = Path(__file__).parents[2] / "docs" / "images" / "conversation.png"
LONG = "".join(f"line {number} of what a tool printed\n" for number in range(6_000))


@pytest.fixture
def run(ada: User) -> Run:
    """Store a run of somebody who is signed in, with a picture and a very long text."""
    now = timezone.now()
    run = Run.objects.create(
        conversation=Conversation.objects.create(owner=ada, title="Pictures"),
        policy_version=Policy.objects.get(slug="explicit").latest,
        client_message_id=uuid.uuid4(),
        question="What does the page show?",
        status="succeeded",
        answer="A conversation.",
        started_at=now,
        ended_at=now,
    )
    picture = {"media_type": "image/png", "data": b64encode(ICON.read_bytes()).decode()}
    common: dict[str, Any] = {"status": "complete", "started_at": now, "ended_at": now}
    seen = {"tool": "browser_screenshot", "inputs": {}, "observation": "A page."}
    store_turn(run, 0, thought="I look.", images=[picture], **seen, **common)
    told = {"tool": "python_repl", "inputs": {"code": "tell()"}, "observation": LONG}
    store_turn(run, 1, thought="I read.", **told, **common)
    assert move_out() == 2
    return run


def test_a_picture_is_seen_though_it_is_handed_out_as_a_file(page: Page, run: Run) -> None:
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)

    page.goto(run.get_absolute_url())

    picture = page.get_by_role("img", name="Picture 1 of turn 1")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_attribute("src", run.artifacts.get(turn__index=0).get_absolute_url())
    expect(picture).to_have_js_property("complete", True)
    width, height = picture.evaluate(LOADED)
    assert min(width, height) > 100
    assert refused == []


def test_a_very_long_text_is_unfolded_to_its_end(page: Page, run: Run) -> None:
    page.goto(run.get_absolute_url())
    turn = page.locator(".turn").nth(1)
    expect(turn).to_contain_text("line 5999 of")

    turn.get_by_role("link", name="Show more of").click()
    expect(turn).to_contain_text("line 2000 of")
    turn.get_by_role("link", name="Show the next").click()

    expect(turn).to_contain_text("line 5000 of")
    shown = turn.locator(".turn__observation").inner_text()
    numbers = [int(line.split()[1]) for line in shown.splitlines() if line.startswith("line ")]
    assert numbers == list(range(6_000))


def test_a_file_is_kept_under_its_name(page: Page, run: Run) -> None:
    page.goto(run.get_absolute_url())
    artifact = run.artifacts.get(turn__index=1)

    with page.expect_download() as download:
        page.evaluate("address => { location.href = address }", artifact.get_absolute_url())

    assert download.value.suggested_filename == "turn-2-action-1.txt"
    assert Path(download.value.path()).read_text() == LONG
