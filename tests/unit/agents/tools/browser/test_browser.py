"""A real browser is driven over a local site, within the same reach as http_get."""

import shutil
import threading
from base64 import b64decode
from typing import Any

import pytest

from agents.control import Control
from agents.errors import Stopped
from agents.tools.browser.session import find_chromium
from agents.tools.browser.tools import browser_tools
from agents.tools.toolkit import Toolkit
from agents.tools.web.address import Reach, reach_of
from tests.unit.agents.tools.browser.driving import browsers, call


def test_a_page_is_shown_with_its_elements(kit: Toolkit, site: Any) -> None:
    text = call(kit, "goto", url=f"{site.url}/shop").text

    assert text.startswith(f"{site.url}/shop\n\nShop\n\n# Lamps\n\nChoose one.")
    assert "[1] text 'Name'" in text
    assert "[3] submit 'Search'" in text or "[3] button 'Search'" in text
    assert "[4] link 'About us'" in text
    assert "hunter2" not in text
    assert "Unseen" not in text.partition("Elements:")[2]


def test_a_page_is_used_as_a_person_would(kit: Toolkit, site: Any) -> None:
    call(kit, "goto", url=f"{site.url}/shop")

    assert "it was clicked" in call(kit, "click", element="Press me").text
    assert "= 'desk lamp'" in call(kit, "type", element="1", text="desk lamp").text
    call(kit, "type", element="Size", text="large")
    found = call(kit, "type", element="Name", text="lamp", submit=True)

    assert "{'q': 'lamp', 'size': 'large'}" in found.text


def test_a_link_is_followed_and_the_page_read(kit: Toolkit, site: Any) -> None:
    call(kit, "goto", url=f"{site.url}/shop")

    clicked = call(kit, "click", element="[4]")
    read = call(kit, "extract")

    assert clicked.text.startswith(f"{site.url}/about")
    assert read.text == "About\n\nWe sell lamps."


def test_a_screenshot_is_a_picture_of_the_page(kit: Toolkit, site: Any) -> None:
    before = call(kit, "screenshot")
    call(kit, "goto", url=f"{site.url}/shop")
    after = call(kit, "screenshot")

    assert before.error == "ToolFailed"
    assert after.text == f"A picture of {site.url}/shop, 1024 by 768 pixels."
    (image,) = after.images
    assert image.media_type == "image/jpeg"
    assert b64decode(image.data).startswith(b"\xff\xd8\xff")


def test_an_element_that_is_not_there_is_a_failure(kit: Toolkit, site: Any) -> None:
    before = call(kit, "click", element="1")
    call(kit, "goto", url=f"{site.url}/shop")
    after = call(kit, "click", element="99")

    assert (before.error, "use browser_goto first" in before.text) == ("ToolFailed", True)
    assert (after.error, "no element '99'" in after.text) == ("ToolFailed", True)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "chrome://version", "javascript:1", "http://u:p@example.org/"]
)
def test_what_is_no_web_page_is_refused(kit: Toolkit, url: str) -> None:
    assert call(kit, "goto", url=url).error == "ToolFailed"


def test_this_machine_is_out_of_reach(chromium: str, site: Any) -> None:
    seen = call(Toolkit(browser_tools(chromium, Reach())), "goto", url=site.says("/x", "<p>secret"))

    assert (seen.error, site.log) == ("ToolFailed", [])


def test_no_way_of_a_page_leads_out_of_reach(kit: Toolkit, site: Any, other_site: Any) -> None:
    other = other_site.url
    other_site.says("/secret", "the metadata")
    site.sends_to("/moved", f"{other}/secret")
    site.says(
        "/trap",
        f"""<img src="{other}/secret"><iframe src="{other}/secret"></iframe>
        <link rel="stylesheet" href="{other}/secret"><script src="{other}/secret"></script>
        <script>fetch("{other}/secret"); fetch("/moved"); new Image().src = "/moved";
        new WebSocket("{other.replace("http", "ws")}/secret");
        navigator.sendBeacon("{other}/secret"); window.open("{other}/secret");</script>
        <a href="{other}/secret">go on</a><a href="/moved">moved</a>""",
    )

    seen = [
        call(kit, "goto", url=f"{site.url}/trap").text,
        call(kit, "goto", url=f"{site.url}/moved").text,
        call(kit, "goto", url=f"{site.url}/trap").text,
        call(kit, "click", element="go on").text,
    ]

    assert "/moved" in {asked.path for asked in site.log}
    assert other_site.log == []
    assert "the metadata" not in "".join(seen)


def test_the_browser_ends_with_the_run(kit: Toolkit, site: Any, wait_for: Any) -> None:
    call(kit, "goto", url=f"{site.url}/shop")
    assert browsers()

    kit.close()

    wait_for(lambda: not browsers(), "the browser's end")


def test_a_closed_browser_is_started_again_when_it_is_needed(kit: Toolkit, site: Any) -> None:
    call(kit, "goto", url=f"{site.url}/shop")
    kit.close()

    assert "Lamps" in call(kit, "goto", url=f"{site.url}/shop").text


def test_no_browser_is_started_before_it_is_needed(kit: Toolkit) -> None:
    assert (kit.names[0], browsers()) == ("browser_goto", [])


def test_a_stop_leaves_a_page_that_never_loads(kit: Toolkit, site: Any) -> None:
    held = threading.Event()
    site.answers("/slow", lambda _: (held.wait(20), (200, {}, b""))[1])
    call(kit, "goto", url=f"{site.url}/shop")
    control = Control()
    threading.Timer(0.3, control.stop).start()

    with pytest.raises(Stopped):
        call(kit, "goto", control, url=f"{site.url}/slow")
    held.set()


def test_a_browser_that_does_not_start_is_a_failure(site: Any) -> None:
    broken = Toolkit(browser_tools(shutil.which("false") or "/bin/false", reach_of([site.place])))

    seen = call(broken, "goto", url=f"{site.url}/shop")

    assert (seen.error, "could not be started" in seen.text) == ("ToolFailed", True)


def test_a_browser_that_is_not_there_is_told(tmp_path: Any) -> None:
    missing = str(tmp_path / "chromium")

    assert find_chromium(missing) == ("", f"there is no browser at {missing}")
