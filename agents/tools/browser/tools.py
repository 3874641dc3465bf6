"""Tools that use a page of the web as a person does: go, click, type, read."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from agents.contracts import Image
from agents.control import Control
from agents.tools.browser.page import click, enter, open_page, picture, read
from agents.tools.browser.session import BrowserSession
from agents.tools.spec import Safety, Tool, tool
from agents.tools.web.address import Reach, port_of, web_url
from agents.tools.web.http_get import part

_ELEMENT = Field(description="number in the list of elements, or the visible text")


def browser_tools(chromium: str, reach: Reach) -> tuple[Tool, ...]:
    """Return the tools of one run, which share one browser within `reach`."""
    session = BrowserSession(chromium, reach)
    made = (
        *(_goto(session, reach), _click(session), _type(session)),
        *(_extract(session), _screenshot(session)),
    )
    return tuple(replace(one, release=session.close) for one in made)


def _goto(session: BrowserSession, reach: Reach) -> Tool:
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
    ) -> str:
        """Open a page in a web browser, and see its text and the elements to click or type in."""
        address = web_url(url)
        reach.addresses(address.host, port_of(address))
        return session.do(lambda page: open_page(page, str(address)), control)

    return browser_goto


def _click(session: BrowserSession) -> Tool:
    @tool(
        timeout=60,
        safety=Safety.MODERATE,
        idempotent=False,
        reaches_out=True,
        doing="Clicking in the browser",
    )
    def browser_click(element: Annotated[str, _ELEMENT], control: Control) -> str:
        """Click a link, a button or another element of the page open in the web browser."""
        return session.do(lambda page: click(page, element), control)

    return browser_click


def _type(session: BrowserSession) -> Tool:
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
    ) -> str:
        """Type a text into a field of the page open in the web browser, or choose an option."""
        return session.do(lambda page: enter(page, element, text, submit), control)

    return browser_type


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
