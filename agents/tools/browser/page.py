"""What can be done on an open page of a browser, and what is seen of it afterwards."""

from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agents.contracts import Image
from agents.errors import ToolFailed
from agents.tools.web.page_text import page_text

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_GLIMPSE = 3_000
_MAX_ELEMENTS = 80
_LABEL = 80
_MAX_HTML = 3_000_000
_LOAD_SECONDS = 20.0
_SETTLE_SECONDS = 3.0
_QUALITY = 50

_MARK_ELEMENTS = """most => {
  const wanted = 'a[href],button,input:not([type=hidden]),select,textarea,'
    + '[role=button],[role=link],[onclick]';
  document.querySelectorAll('[data-turnstone]').forEach(e => e.removeAttribute('data-turnstone'));
  const seen = [];
  for (const e of document.querySelectorAll(wanted)) {
    if (seen.length >= most) break;
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || getComputedStyle(e).visibility === 'hidden') continue;
    e.setAttribute('data-turnstone', seen.length + 1);
    const label = e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].innerText)
      || e.innerText || e.getAttribute('placeholder') || e.getAttribute('name') || '';
    const value = e.type === 'password' ? '' : e.value;
    const held = typeof value === 'string' ? value : '';
    seen.push([e.tagName.toLowerCase(), e.type || '', label, held]);
  }
  return seen;
}"""


def open_page(page: "Page", url: str) -> str:
    """Go to an address and return what is seen there."""
    page.goto(url, wait_until="domcontentloaded", timeout=_LOAD_SECONDS * 1000)
    return _seen(page)


def click(page: "Page", element: str) -> str:
    """Click an element and return what is seen then."""
    _element(page, element).click()
    return _seen(page)


def enter(page: "Page", element: str, text: str, submit: bool) -> str:
    """Put a text into a field, or choose the option of that label; return what is seen then."""
    field = _element(page, element)
    if field.evaluate("e => e.tagName") == "SELECT":
        field.select_option(label=text)
    else:
        field.fill(text)
    if submit:
        field.press("Enter")
    return _seen(page)


def read(page: "Page") -> str:
    """Return the whole text of the page."""
    body = page.content()[:_MAX_HTML].encode("utf-8", "replace")
    return page_text(body, "utf-8", page.url) or "(the page holds no text)"


def picture(page: "Page") -> tuple[str, Image]:
    """Return a picture of the part of the page in view, and a line on it."""
    if page.url == "about:blank":
        raise ToolFailed("No page is open: use browser_goto first.")
    taken = page.screenshot(type="jpeg", quality=_QUALITY, scale="css", animations="disabled")
    size = page.viewport_size or {"width": 0, "height": 0}
    said = f"A picture of {page.url}, {size['width']} by {size['height']} pixels."
    return said, Image(media_type="image/jpeg", data=b64encode(taken).decode())


def _element(page: "Page", wanted: str) -> "Locator":
    """Return the element of that number, or the first visible one with that text."""
    if page.url == "about:blank":
        raise ToolFailed("No page is open: use browser_goto first.")
    name = wanted.strip().strip("[]").strip()
    if name.isascii() and name.isdigit():
        found = page.locator(f"[data-turnstone='{int(name)}']")
    else:
        texts = [page.get_by_label(name), page.get_by_placeholder(name), page.get_by_text(name)]
        roles = [page.get_by_role("link", name=name), page.get_by_role("button", name=name)]
        found = next((one for one in (*roles, *texts) if one.count()), texts[-1])
    if not name or not found.count():
        raise ToolFailed(f"The page has no element {wanted[:_LABEL]!r}; look at its list again.")
    return found.first


def _seen(page: "Page") -> str:
    """Return what the page shows once it has settled: address, text, and elements by number."""
    from playwright.sync_api import TimeoutError as NeverSettled  # there is a page, so it is loaded

    with suppress(NeverSettled):  # some pages are never done; what is there by then is shown
        page.wait_for_load_state("networkidle", timeout=_SETTLE_SECONDS * 1000)
    text = read(page)
    glimpse = text[:_GLIMPSE]
    if len(text) > _GLIMPSE:
        glimpse += f"\n[{len(text):,} characters in all; browser_extract reads them]"
    elements = "\n".join(_listed(page.evaluate(_MARK_ELEMENTS, _MAX_ELEMENTS)))
    return f"{page.url}\n\n{glimpse}\n\nElements:\n{elements or '(none)'}"


def _listed(elements: Sequence[Sequence[Any]]) -> list[str]:
    lines = []
    for number, (tag, kind, label, value) in enumerate(elements, 1):
        what = {"a": "link", "input": kind or "field"}.get(tag, tag)
        holds = f" = {' '.join(value.split())[:_LABEL]!r}" if value and tag != "button" else ""
        lines.append(f"[{number}] {what} {' '.join(label.split())[:_LABEL]!r}{holds}")
    return lines
