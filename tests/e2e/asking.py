"""How a person at a page asks: when the page can hear them, and no run of theirs is at work."""

from playwright.sync_api import Locator, Page, expect

LIVE = ", ".join(
    f'.run[data-status="{status}"]' for status in ("queued", "running", "waiting", "interrupted")
)


def write(page: Page, text: str) -> None:
    """Write a message and press Enter, once the page's scripts listen; before, Enter is a line."""
    page.wait_for_load_state()
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")


def ask(page: Page, text: str, policy: str | None = None) -> None:
    """Ask when the run before has ended: its answer is on the page sooner than its end."""
    expect(page.locator(LIVE)).to_have_count(0)
    if policy:
        page.wait_for_load_state()
        page.get_by_label("Policy", exact=True).select_option(policy)
    write(page, text)


def last_run(page: Page) -> Locator:
    """Return the run that the page shows last."""
    return page.locator(".run").last
