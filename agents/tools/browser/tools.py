"""Tools that use a page of the web as a person does: go, click, type, read."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from agents.contracts import Image
from agents.control import Control
from agents.tools.browser.page import (
    back,
    click,
    enter,
    open_page,
    picture,
    press,
    read,
    scroll,
    seen,
)
from agents.tools.browser.session import BrowserSession
from agents.tools.spec import Safety, Tool, tool
from agents.tools.web.address import Reach, port_of, web_url
from agents.tools.web.http_get import part

if TYPE_CHECKING:
    from playwright.sync_api import Page

_ELEMENT = Field(description="number in the list of elements, or the visible text")


def browser_tools(chromium: str, reach: Reach) -> tuple[Tool, ...]:
    """Return the tools of one run, which share one browser within `reach`."""
    session = BrowserSession(chromium, reach)
    shown = _Shown(session)
    made = (
        *(_goto(shown, reach), _click(shown), _type(shown)),
        *(_scroll(shown), _back(shown), _press(shown)),
        *(_extract(session), _screenshot(session)),
    )
    return tuple(replace(one, release=session.close) for one in made)


class _Shown:
    """Do something on the page, then show it: in words, and its picture where that is another."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._last = ""

    def after(self, work: Callable[["Page"], None], control: Control) -> Iterator[str | Image]:
        """Yield what is seen once it is done, and the picture where the page looks otherwise."""

        def done(page: "Page") -> tuple[str, Image]:
            work(page)
            return seen(page)

        said, image = self._session.do(done, control)
        yield said
        if image.data != self._last:
            self._last = image.data
            yield image


def _goto(shown: _Shown, reach: Reach) -> Tool:
    @tool(
        timeout=60,
        safety=Safety.MODERATE,
        idempotent=False,
        reaches_out=True,
        doing="Opening a page in the browser",
        may_repeat=True,
    )
    def browser_goto(
        url: Annotated[str, Field(description="such as https://example.org/page")],
        control: Control,
    ) -> Iterator[str | Image]:
        """Open a page in a web browser, and see its text and the elements to click or type in."""
        address = web_url(url)
        reach.addresses(address.host, port_of(address))
        return shown.after(lambda page: open_page(page, str(address)), control)

    return browser_goto


def _click(shown: _Shown) -> Tool:
    @tool(
        timeout=60,
        safety=Safety.MODERATE,
        idempotent=False,
        reaches_out=True,
        doing="Clicking in the browser",
    )
    def browser_click(element: Annotated[str, _ELEMENT], control: Control) -> Iterator[str | Image]:
        """Click a link, a button or another element of the page open in the web browser."""
        return shown.after(lambda page: click(page, element), control)

    return browser_click


def _type(shown: _Shown) -> Tool:
    @tool(
        timeout=60,
        safety=Safety.MODERATE,
        idempotent=False,
        reaches_out=True,
        doing="Typing in the browser",
    )
    def browser_type(
        element: Annotated[str, _ELEMENT],
        text: Annotated[str, Field(max_length=10_000)],
        control: Control,
        submit: Annotated[bool, Field(description="press Enter afterwards")] = False,
    ) -> Iterator[str | Image]:
        """Type a text into a field of the page open in the web browser, or choose an option."""
        return shown.after(lambda page: enter(page, element, text, submit), control)

    return browser_type


def _scroll(shown: _Shown) -> Tool:
    @tool(
        timeout=60,
        safety=Safety.MODERATE,
        idempotent=False,
        reaches_out=True,
        doing="Scrolling in the browser",
        may_repeat=True,
    )
    def browser_scroll(
        control: Control,
        direction: Annotated[
            Literal["down", "up", "bottom", "top"],
            Field(description="by most of a screen, or to an end"),
        ] = "down",
    ) -> Iterator[str | Image]:
        """Scroll the page open in the web browser, where more of it loads or is to be seen."""
        return shown.after(lambda page: scroll(page, direction), control)

    return browser_scroll


def _back(shown: _Shown) -> Tool:
    @tool(
        timeout=60,
        safety=Safety.MODERATE,
        idempotent=False,
        reaches_out=True,
        doing="Going back in the browser",
    )
    def browser_back(control: Control) -> Iterator[str | Image]:
        """Go back to the page that was open before in the web browser."""
        return shown.after(back, control)

    return browser_back


def _press(shown: _Shown) -> Tool:
    @tool(
        timeout=60,
        safety=Safety.MODERATE,
        idempotent=False,
        reaches_out=True,
        doing="Pressing a key in the browser",
    )
    def browser_press(
        key: Annotated[
            str,
            Field(description="such as Enter, Escape, Tab, ArrowDown, Control+a", max_length=40),
        ],
        control: Control,
        element: Annotated[
            str, Field(description="number or visible text; the focus if left out")
        ] = "",
    ) -> Iterator[str | Image]:
        """Press a key or keys held together on the page open in the web browser."""
        return shown.after(lambda page: press(page, key, element), control)

    return browser_press


def _extract(session: BrowserSession) -> Tool:
    @tool(
        timeout=30,
        safety=Safety.MODERATE,
        brings_in=True,
        doing="Reading in the browser",
        may_repeat=True,
    )
    def browser_extract(
        control: Control,
        start: Annotated[int, Field(ge=0, description="character to go on from")] = 0,
    ) -> str:
        """Read the whole text of the page open in the web browser, with its links."""
        return part(session.do(read, control), start)

    return browser_extract


def _screenshot(session: BrowserSession) -> Tool:
    @tool(
        timeout=30,
        safety=Safety.MODERATE,
        brings_in=True,
        doing="Taking a screenshot",
        may_repeat=True,
    )
    def browser_screenshot(control: Control) -> Iterator[str | Image]:
        """Take a screenshot, a picture of what the page open in the web browser looks like.

        The person sees it, and you do if you can see pictures.
        """
        said, image = session.do(picture, control)
        yield said
        yield image

    return browser_screenshot
