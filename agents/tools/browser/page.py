"""What can be done on an open page of a browser, and what is seen of it afterwards."""

from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from agents.contracts import Image
from agents.errors import ToolFailed
from agents.tools.web.page_text import page_text

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Locator, Page

_GLIMPSE = 3_000
_MAX_ELEMENTS = 80
_MAX_FRAMES = 20
_LABEL = 80
_MAX_HTML = 3_000_000
_LOAD_SECONDS = 20.0
_SETTLE_SECONDS = 3.0
_QUALITY = 50

_MARK_ELEMENTS = """([from, most]) => {
  const wanted = 'a[href],button,input:not([type=hidden]),select,textarea,'
    + '[role=button],[role=link],[onclick]';
  const within = root => [...root.querySelectorAll('*')].flatMap(
    e => (e.shadowRoot ? [e, ...within(e.shadowRoot)] : [e]));
  const seen = [];
  for (const e of within(document)) {
    e.removeAttribute('data-turnstone');
    if (seen.length >= most || !e.matches(wanted)) continue;
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || getComputedStyle(e).visibility === 'hidden') continue;
    e.setAttribute('data-turnstone', from + seen.length);
    const label = e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].innerText)
      || e.innerText || e.getAttribute('placeholder') || e.getAttribute('name') || '';
    const value = e.type === 'password' ? '' : e.value;
    const held = typeof value === 'string' ? value : '';
    seen.push([e.tagName.toLowerCase(), e.type || '', label, held]);
  }
  return seen;
}"""
_PLACE = """() => {
  const all = document.scrollingElement || document.documentElement;
  return [Math.round(all.scrollTop), innerHeight, all.scrollHeight];
}"""
_SCROLL = """async ([down, edge]) => {
  const all = document.scrollingElement || document.documentElement;
  const to = edge ? (down ? all.scrollHeight : 0)
    : all.scrollTop + (down ? 0.9 : -0.9) * innerHeight;
  all.scrollTo({top: to, behavior: 'instant'});
  const frame = () => new Promise(drawn => requestAnimationFrame(drawn));
  await frame();
  await frame();
}"""


def open_page(page: "Page", url: str) -> None:
    """Go to an address."""
    page.goto(url, wait_until="domcontentloaded", timeout=_LOAD_SECONDS * 1000)


def click(page: "Page", element: str) -> None:
    """Click an element."""
    _element(page, element).click()


def enter(page: "Page", element: str, text: str, submit: bool) -> None:
    """Put a text into a field, or choose the option of that label."""
    field = _element(page, element)
    if field.evaluate("e => e.tagName") == "SELECT":
        field.select_option(label=text)
    else:
        field.fill(text)
    if submit:
        field.press("Enter")


def scroll(page: "Page", direction: Literal["down", "up", "bottom", "top"]) -> None:
    """Scroll by most of what is in view, or to an end of the page."""
    _check_open(page)
    page.evaluate(_SCROLL, [direction in ("down", "bottom"), direction in ("bottom", "top")])


def back(page: "Page") -> None:
    """Go back to the page before; raises ToolFailed where there is none."""
    _check_open(page)
    was = page.url
    page.go_back(wait_until="domcontentloaded", timeout=_LOAD_SECONDS * 1000)
    if page.url == "about:blank":
        page.go_forward(wait_until="domcontentloaded", timeout=_LOAD_SECONDS * 1000)
    if page.url == was:
        raise ToolFailed("There is no page before this one.")


def press(page: "Page", key: str, element: str) -> None:
    """Press a key, or keys held together, in an element or where the focus is."""
    _check_open(page)
    if element:
        _element(page, element).press(key)
    else:
        page.keyboard.press(key)


def read(page: "Page") -> str:
    """Return the whole text of the page, that of its frames below it."""
    from playwright.sync_api import Error as FrameGone

    texts: list[str] = []
    for frame in page.frames[:_MAX_FRAMES]:
        with suppress(FrameGone):
            body = frame.content()[:_MAX_HTML].encode("utf-8", "replace")
            text = page_text(body, "utf-8", frame.url)
            if text and frame is not page.main_frame:
                text = f"[In the frame {frame.url[:_LABEL]}:]\n{text}"
            texts.append(text)
    return "\n\n".join(filter(None, texts)) or "(the page holds no text)"


def picture(page: "Page") -> tuple[str, Image]:
    """Return a picture of the part of the page in view, and a line on it."""
    _check_open(page)
    size = page.viewport_size or {"width": 0, "height": 0}
    said = f"A picture of {page.url}, {size['width']} by {size['height']} pixels."
    return said, Image(media_type="image/jpeg", data=_taken(page))


def seen(page: "Page") -> tuple[str, Image]:
    """Return what the page shows once it has settled, and its picture.

    That is its address, how far it is scrolled, its text, and elements by number, those within
    frames behind their own.
    """
    from playwright.sync_api import TimeoutError as NeverSettled  # there is a page, so it is loaded

    with suppress(NeverSettled):  # some pages are never done; what is there by then is shown
        page.wait_for_load_state("networkidle", timeout=_SETTLE_SECONDS * 1000)
    text = read(page)
    glimpse = text[:_GLIMPSE]
    if len(text) > _GLIMPSE:
        glimpse += f"\n[{len(text):,} characters in all; browser_extract reads them]"
    elements = "\n".join(_elements(page))
    told = f"{page.url}{_place(page)}\n\n{glimpse}\n\nElements:\n{elements or '(none)'}"
    return told, Image(media_type="image/jpeg", data=_taken(page))


def _taken(page: "Page") -> str:
    shot = page.screenshot(type="jpeg", quality=_QUALITY, scale="css", animations="disabled")
    return b64encode(shot).decode()


def _check_open(page: "Page") -> None:
    if page.url == "about:blank":
        raise ToolFailed("No page is open: use browser_goto first.")


def _element(page: "Page", wanted: str) -> "Locator":
    """Return the element of that number, or the first visible one with that text, in any frame."""
    _check_open(page)
    name = wanted.strip().strip("[]").strip()
    for frame in page.frames if name else ():
        found = _within(frame, name)
        if found.count():
            return found.first
    raise ToolFailed(f"The page has no element {wanted[:_LABEL]!r}; look at its list again.")


def _within(frame: "Frame", name: str) -> "Locator":
    if name.isascii() and name.isdigit():
        return frame.locator(f"[data-turnstone='{int(name)}']")
    texts = [frame.get_by_label(name), frame.get_by_placeholder(name), frame.get_by_text(name)]
    roles = [frame.get_by_role("link", name=name), frame.get_by_role("button", name=name)]
    return next((one for one in (*roles, *texts) if one.count()), texts[-1])


def _elements(page: "Page") -> list[str]:
    """Return a line for each element that can be used, numbered through all frames."""
    from playwright.sync_api import Error as FrameGone

    lines: list[str] = []
    listed = 0
    for frame in page.frames:
        with suppress(FrameGone):  # a frame may be taken away while it is looked at
            found = frame.evaluate(_MARK_ELEMENTS, [listed + 1, _MAX_ELEMENTS - listed])
            if found and frame is not page.main_frame:
                lines.append(f"In the frame {frame.url[:_LABEL]}:")
            lines += _listed(found, listed + 1)
            listed += len(found)
    return lines


def _place(page: "Page") -> str:
    """Say how far a page is scrolled that is longer than what is in view."""
    top, view, whole = page.evaluate(_PLACE)
    if whole <= view:
        return ""
    where = "at its end" if top + view >= whole - 1 else f"{100 * top // (whole - view)} % down"
    return f" (scrolled: {where if top else 'at its top'})"


def _listed(elements: Sequence[Sequence[Any]], first: int) -> list[str]:
    lines = []
    for number, (tag, kind, label, value) in enumerate(elements, first):
        what = {"a": "link", "input": kind or "field"}.get(tag, tag)
        holds = f" = {' '.join(value.split())[:_LABEL]!r}" if value and tag != "button" else ""
        lines.append(f"[{number}] {what} {' '.join(label.split())[:_LABEL]!r}{holds}")
    return lines
