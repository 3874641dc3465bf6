"""A person chooses who answers, and the run says who did."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from chat.models import Run, User
from chat.policies import publish_seeds
from tests.e2e.asking import LIVE, ask, last_run
from tests.e2e.conftest import Stack
from tests.integration.runs.worker.slots.model_server import Server, serving


@pytest.fixture
def servers() -> Iterator[dict[str, Server]]:
    """Serve the models of two providers."""
    with ExitStack() as held:
        servers = {}
        for name in ("east", "west"):
            served = serving()
            servers[name] = next(served)
            servers[name].may_answer.set()
            held.callback(next, served, None)
        yield servers


@pytest.fixture
def named_stack(
    stack_with: Callable[..., Stack], servers: dict[str, Server], tmp_path: Path
) -> Stack:
    """Give the product with two named providers; east has many models, and west for a second."""
    file = tmp_path / "providers.toml"
    models = [f"llama-{size}b" for size in (1, 3, 8, 13, 30, 70, 405)]
    second = {"east": 'second = "west"\n'}
    entries = (
        f'[[provider]]\nname = "{name}"\ndialect = "openai"\ncalls = 4\n{second.get(name, "")}'
        f'address = "{server.base_url}"\nmodels = {[f"{name}-small", *models]}\n'
        for name, server in servers.items()
    )
    file.write_text("\n".join(entries))
    return stack_with(TURNSTONE_PROVIDERS=str(file))


@pytest.fixture
def page(named_stack: Stack, window: Callable[..., Page]) -> Page:
    """Open a window on the product with named providers."""
    return window(base_url=named_stack.url, viewport={"width": 1280, "height": 800})


def chosen(page: Page) -> None:
    """Open the menu of models."""
    page.wait_for_load_state()
    page.locator("#models > summary").click()


def test_a_person_chooses_a_model_and_the_run_names_it(page: Page, ada: User) -> None:
    page.goto("/")
    chosen(page)
    page.get_by_role("group", name="west").get_by_text("llama-70b").click()
    expect(page.locator("#models")).not_to_have_attribute("open", "")

    ask(page, "What is 2 + 2?")

    made_by = last_run(page).locator(".run__made-by")
    expect(made_by).to_have_text("Native calls v1 · llama-70b by west")
    run = Run.objects.get()
    assert (run.chosen_provider, run.provider, run.model) == ("west", "west", "llama-70b")

    page.reload()
    expect(page.locator(".models__chosen")).to_have_text("llama-70b")
    ask(page, "And again?")
    expect(last_run(page).locator(".run__made-by")).to_contain_text("by west")
    page.goto(run.get_absolute_url())
    expect(page.locator(".facts")).to_contain_text("by west")


def test_a_model_is_found_among_many_by_the_keyboard(page: Page, ada: User) -> None:
    page.goto("/")
    chosen(page)
    search = page.get_by_label("Find a model")
    expect(search).to_be_focused()

    search.fill("nothing like it")
    expect(page.get_by_text("No model is called that.")).to_be_visible()
    search.fill("west 405")
    expect(page.locator(".models__one:visible")).to_have_count(1)
    search.press("Enter")

    expect(page.locator(".models__chosen")).to_have_text("llama-405b")
    expect(page.locator("#models > summary")).to_be_focused()
    chosen(page)
    expect(page.locator(".models__one:visible")).to_have_count(17)
    search.fill("west 405")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#models")).not_to_have_attribute("open", "")
    chosen(page)
    expect(page.locator(".models__one:visible")).to_have_count(17)


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_menu_of_models_lies_within_the_window(page: Page, ada: User, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 600})
    page.goto("/")
    chosen(page)

    box = page.locator(".models__panel").bounding_box()

    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] >= 0


def test_a_run_that_its_second_answered_says_so(
    page: Page, ada: User, servers: dict[str, Server]
) -> None:
    servers["east"].fails_with = 500
    page.goto("/")

    ask(page, "What is 2 + 2?")

    expect(last_run(page).locator(".run__made-by")).to_have_text(
        "Native calls v1 · west-small by west, for east did not answer"
    )
    page.goto(Run.objects.get().get_absolute_url())
    expect(page.locator(".facts")).to_contain_text("by west, for east did not answer")


def test_a_model_is_chosen_without_scripts(
    named_stack: Stack,
    window: Callable[..., Page],
    person: Callable[..., User],
    sign_in: Callable[[Page, User], None],
) -> None:
    publish_seeds()
    plain = window(base_url=named_stack.url, java_script_enabled=False)
    sign_in(plain, person("ada"))
    plain.goto("/")
    plain.locator("#models > summary").click()
    plain.get_by_role("group", name="west").get_by_text("llama-70b").check()
    plain.get_by_label("Your message").fill("What is 2 + 2?")
    plain.get_by_role("button", name="Send").click()

    assert Run.objects.get().chosen_model == "llama-70b"
    expect(plain.locator(LIVE).or_(plain.locator(".run"))).to_have_count(1)
