"""A policy of one's own: published, asked, compared with the one before, in a real browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from chat.models import Policy, Run, User
from chat.policies import publish_seeds
from tests.e2e.asking import ask, last_run


@pytest.fixture
def root(person: Callable[..., User], sign_in: Callable[[Page, User], None], page: Page) -> User:
    """Sign an administrator in on the page, with the policies of a fresh installation."""
    publish_seeds()
    root = person("root", is_superuser=True, is_staff=True)
    sign_in(page, root)
    return root


@pytest.mark.parametrize("scripts", [True, False])
def test_a_version_with_instructions_and_a_tool_is_published_asked_and_compared(
    page: Page,
    root: User,
    sign_in: Callable[[Page, User], None],
    window: Callable[..., Page],
    stack: Any,
    scripts: bool,
) -> None:
    explicit = Policy.objects.get(slug="explicit")
    before = explicit.publish(explicit.latest.spec.model_copy(update={"tools": ("calculator",)}))
    page.goto("/")
    ask(page, "What is 37 * 43?", "explicit")
    expect(last_run(page).locator(".run__made-by")).to_contain_text(f"v{before.number}")
    expect(last_run(page)).to_have_attribute("data-status", "succeeded")

    form = page if scripts else window(base_url=stack.url, java_script_enabled=False)
    sign_in(form, root)
    form.goto("/policies/")
    form.get_by_role("link", name="Explicit ReAct").click()
    form.get_by_role("link", name="Edit").click()
    form.get_by_label("Instructions").fill("Answer in French.")
    form.get_by_role("checkbox", name=re.compile("current_time")).check()
    form.get_by_label("Max turns").fill("none")
    form.get_by_role("button", name="Publish").click()
    beside = form.locator(".field", has=form.get_by_label("Max turns"))
    expect(beside.get_by_role("alert")).to_contain_text("valid integer")
    expect(form.get_by_label("Instructions")).to_have_value("Answer in French.")
    form.get_by_label("Max turns").fill("7")
    form.get_by_role("button", name="Publish").click()

    after = f"Explicit ReAct v{before.number + 1}"
    expect(form.get_by_role("heading", level=1)).to_have_text(after)
    expect(form.locator(".diff__line--added")).to_contain_text(
        ["Answer in French.", "current_time"]
    )
    expect(form.get_by_text("limits.max_turns")).to_be_visible()
    expect(form.get_by_text("Used by 0 runs")).to_be_visible()

    page.goto("/")
    ask(page, "What is 6 * 7?", "explicit")
    expect(last_run(page).locator(".run__made-by")).to_contain_text(after)
    expect(last_run(page)).to_have_attribute("data-status", "succeeded")
    last_run(page).get_by_role("link", name="Transcript").click()
    page.get_by_text("Instructions of").click()
    expect(page.locator(".instructions dd")).to_have_text("Answer in French.")
    page.get_by_role("link", name=after).click()
    expect(page.get_by_text("Used by 1 run,")).to_be_visible()


def test_a_draft_is_tried_and_then_edited_on(page: Page, root: User) -> None:
    latest = Policy.objects.get(slug="rewoo").latest
    page.goto(f"/policies/rewoo/{latest.number}/edit/")
    page.get_by_label("Instructions").fill("Be brief.")
    page.get_by_label("A question").fill("What is 6 * 7?")
    page.get_by_role("button", name="Try", exact=True).click()

    trial = f"ReWOO v{latest.number + 1} (trial)"
    expect(page.locator(".facts__status")).to_contain_text("Answered")
    page.get_by_role("link", name=trial).click()
    page.get_by_role("link", name="Edit on, or publish").click()
    expect(page.get_by_label("Instructions")).to_have_value("Be brief.")
    page.get_by_role("button", name="Publish").click()

    expect(page.get_by_role("heading", level=1)).to_have_text(f"ReWOO v{latest.number + 2}")
    assert Run.objects.get().conversation.kind == "trial"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_can_be_used_by_everyone_and_fit(
    page: Page, root: User, scheme: Any, width: int
) -> None:
    policy = Policy.objects.get(slug="planned")
    told = {"instructions": "Be brief.\n" + "long" * 60, "tools": ("calculator",)}
    version = policy.publish(policy.latest.spec.model_copy(update=told), by=root)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    own = f"/policies/planned/{version.number}/"

    for address in ("/policies/", "/policies/planned/", own, f"{own}edit/", "/instructions/"):
        page.goto(address)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{address}\n{found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
