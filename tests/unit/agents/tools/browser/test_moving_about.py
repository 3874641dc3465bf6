"""Moving about on a page: scrolled, back, by keys, within frames, and seen where it changed."""

from typing import Any

from agents.tools.browser.tools import browser_tools
from agents.tools.toolkit import Toolkit
from agents.tools.web.address import Reach
from tests.unit.agents.tools.browser.driving import call

LONG = """<!doctype html><title>Long</title><p id="seen">top</p><div style="height:4000px"></div>
<a href="/next">next</a><script>addEventListener('scroll', () =>
document.getElementById('seen').textContent = 'scrolled by ' + (scrollY > 0))</script>"""
KEYS = """<!doctype html><title>Keys</title><input aria-label="Word"><p id="out">nothing yet</p>
<script>addEventListener('keydown', e => document.getElementById('out').textContent =
'pressed ' + (e.ctrlKey ? 'Control+' : '') + e.key)</script>"""
FRAMED = """<!doctype html><title>Outside</title><button>Outer</button>
<iframe src="/inside" width="300" height="200"></iframe>"""
INSIDE = """<!doctype html><p id="out">untouched</p><label>Inner name <input></label>
<button onclick="document.getElementById('out').textContent='touched inside'">Inner</button>"""
SHADOW = """<!doctype html><title>Shadow</title><div id="host"></div>
<p id="out">untouched</p><script>
const root = document.getElementById('host').attachShadow({mode: 'open'})
root.innerHTML = '<button>Deep</button>'
root.querySelector('button').onclick = () =>
  document.getElementById('out').textContent = 'touched deep'</script>"""


def test_a_page_is_scrolled_and_says_how_far(kit: Toolkit, site: Any) -> None:
    site.says("/long", LONG)

    opened = call(kit, "goto", url=f"{site.url}/long").text
    down = call(kit, "scroll").text
    end = call(kit, "scroll", direction="bottom").text

    assert "(scrolled: at its top)" in opened
    assert "% down)" in down
    assert "scrolled by true" in down
    assert "(scrolled: at its end)" in end
    assert "(scrolled: at its top)" in call(kit, "scroll", direction="top").text


def test_back_leads_to_the_page_before_and_no_further(kit: Toolkit, site: Any) -> None:
    call(kit, "goto", url=f"{site.url}/shop")
    call(kit, "click", element="About us")

    assert call(kit, "back").text.startswith(f"{site.url}/shop")
    first = call(kit, "back")
    assert (first.error, first.text) == ("ToolFailed", "There is no page before this one.")
    assert call(kit, "extract").text.startswith("Shop")


def test_keys_are_pressed_where_the_focus_is_or_in_an_element(kit: Toolkit, site: Any) -> None:
    site.says("/keys", KEYS)
    call(kit, "goto", url=f"{site.url}/keys")

    assert "pressed Escape" in call(kit, "press", key="Escape").text
    assert "pressed Control+a" in call(kit, "press", key="Control+a", element="Word").text
    assert "= 'x'" in call(kit, "press", key="x", element="1").text
    assert call(kit, "press", key="NoSuchKey").error == "ToolFailed"


def test_what_stands_in_a_frame_is_listed_read_and_used(kit: Toolkit, site: Any) -> None:
    site.says("/framed", FRAMED)
    site.says("/inside", INSIDE)

    text = call(kit, "goto", url=f"{site.url}/framed").text
    assert "[1] button 'Outer'" in text
    assert f"In the frame {site.url}/inside:\n[2] text 'Inner name'" in text
    assert "untouched" in text

    assert "touched inside" in call(kit, "click", element="3").text
    assert "= 'Ada'" in call(kit, "type", element="Inner name", text="Ada").text


def test_a_frame_out_of_reach_is_not_read(kit: Toolkit, site: Any, other_site: Any) -> None:
    address = other_site.says("/secret", "<p>the metadata</p><button>Take it</button>")
    site.says("/trap", f'<!doctype html><p>Here.</p><iframe src="{address}"></iframe>')

    text = call(kit, "goto", url=f"{site.url}/trap").text

    assert "Here." in text
    assert "the metadata" not in text
    assert other_site.log == []


def test_what_stands_in_a_shadow_is_listed_and_clicked(kit: Toolkit, site: Any) -> None:
    site.says("/shadow", SHADOW)

    assert "[1] button 'Deep'" in call(kit, "goto", url=f"{site.url}/shadow").text
    assert "touched deep" in call(kit, "click", element="1").text


def test_a_page_is_shown_as_a_picture_where_it_changed(kit: Toolkit, site: Any) -> None:
    opened = call(kit, "goto", url=f"{site.url}/shop")
    again = call(kit, "press", key="Shift")
    clicked = call(kit, "click", element="Press me")

    assert [len(one.images) for one in (opened, again, clicked)] == [1, 0, 1]
    assert opened.images != clicked.images


def test_nothing_moves_before_a_page_is_open(kit: Toolkit) -> None:
    moves: dict[str, dict[str, Any]] = {"scroll": {}, "back": {}, "press": {"key": "Enter"}}
    for name, inputs in moves.items():
        seen = call(kit, name, **inputs)
        assert (seen.error, "use browser_goto first" in seen.text) == ("ToolFailed", True)


def test_all_that_moves_a_page_reaches_out() -> None:
    tools = browser_tools("chromium", Reach())

    still = {one.name for one in tools if not one.reaches_out}
    assert still == {"browser_extract", "browser_screenshot"}
