"""A version with instructions and an MCP tool, published in the page, calls it natively."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from agents.providers.choice import ModelChoice
from chat.models import Policy, User
from chat.policies import publish_seeds
from tests.e2e.asking import ask, last_run
from tests.e2e.conftest import Stack, environment
from tests.unit.agents.tools.mcp.real_servers import EVERYTHING, node


@pytest.fixture
def mcp_stack(stack: Stack, tmp_path: Path) -> Iterator[Stack]:
    """Give the product with an MCP server."""
    file = tmp_path / "mcp.json"
    server = {"command": node(), "args": [str(EVERYTHING), "stdio"], "reaches_out": False}
    file.write_text(json.dumps({"mcpServers": {"all": server}}))
    stack.stop_worker()
    logs = tmp_path / "logs"
    logs.mkdir()
    own = Stack(logs, environment() | {"TURNSTONE_MCP": str(file)})
    own.start()
    yield own
    own.stop()


@pytest.fixture
def page(mcp_stack: Stack, window: Callable[..., Page]) -> Page:
    """Open a window on the product with an MCP server."""
    return window(base_url=mcp_stack.url, viewport={"width": 1280, "height": 800})


def test_a_version_with_an_mcp_tool_is_published_called_natively_and_compared(
    page: Page, person: Callable[..., User], sign_in: Callable[[Page, User], None]
) -> None:
    publish_seeds()
    native = Policy.objects.get(slug="native")
    sums = [{"tool": "all__get-sum", "inputs": {"a": 2, "b": more}} for more in (40, 41)]
    script = ({"say": "I add them up.", "calls": sums}, {"say": "They are 42 and 43."})
    told = {"model": ModelChoice(provider="scripted", script=script), "tools": ("calculator",)}
    before = native.publish(native.latest.spec.model_copy(update=told))
    sign_in(page, person("root", is_superuser=True, is_staff=True))
    page.goto("/")
    ask(page, "What is 2 + 40, and 2 + 41?", "native")
    first = last_run(page)
    expect(first.locator(".run__made-by")).to_contain_text(f"v{before.number}")
    expect(first).to_have_attribute("data-status", "succeeded")

    page.goto(f"/policies/native/{before.number}/edit/")
    page.get_by_label("Instructions").fill("Add up carefully.")
    page.get_by_role("checkbox", name="all__*").check()
    page.get_by_role("button", name="Publish").click()
    after = f"Native calls v{before.number + 1}"
    expect(page.get_by_role("heading", level=1)).to_have_text(after)
    expect(page.locator(".diff__line--added")).to_contain_text(["Add up carefully.", "all__"])

    page.goto("/")
    ask(page, "What is 2 + 40, and 2 + 41?", "native")
    run = last_run(page)
    expect(run.locator(".run__made-by")).to_contain_text(after)
    expect(run).to_contain_text("They are 42 and 43.")
    run.get_by_role("link", name="Transcript").click()
    for more in (40, 41):
        expect(page.get_by_text(f"The sum of 2 and {more} is {2 + more}.")).to_be_visible()
