"""A real browser for one run: started with its first use, closed with the run.

Playwright's objects belong to the thread that made them, and every tool call has a thread of its
own; so the browser has one, too, and calls hand their work over to it.
"""

import importlib.util
import logging
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agents.control import Control
from agents.cores import roaming
from agents.errors import AgentError, ToolFailed
from agents.tools.browser.proxy import GuardedProxy
from agents.tools.web.address import Reach
from agents.waiting import until

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Playwright

logger = logging.getLogger(__name__)

ACTION_SECONDS = 10.0
_IDLE_SECONDS = 600.0
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    # What goes past the proxy goes past the rules.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--proxy-bypass-list=<-loopback>",
)

T = TypeVar("T")


def find_chromium(configured: str = "") -> tuple[str, str]:
    """Return the path of a browser that can be driven, and why there is none if it is empty."""
    if importlib.util.find_spec("playwright") is None:
        return "", "the package playwright is not installed"
    found = configured or next(filter(None, map(shutil.which, _NAMES)), "") or _playwrights_own()
    if not found or not Path(found).is_file():
        return "", f"there is no browser at {found}" if found else "no Chromium is installed"
    return found, ""


def _playwrights_own() -> str:
    """Return the newest browser that Playwright has installed for this user, empty if none."""
    installed = Path.home() / ".cache" / "ms-playwright"
    return str(max(installed.glob("chromium-*/chrome-linux*/chrome"), default=""))


class BrowserSession:
    """One browser with one page in front; `do` works on that page from any thread."""

    def __init__(self, chromium: str, reach: Reach) -> None:
        self._chromium = chromium
        self._reach = reach
        self._lock = threading.Lock()
        self._work: queue.Queue[Callable[[Page], None] | None] | None = None
        self.reach = reach

    def do(self, work: Callable[["Page"], T], control: Control) -> T:
        """Return what `work` makes of the page; raises ToolFailed, and Halted."""
        done: Future[T] = Future()

        def run(page: "Page") -> None:
            if not done.set_running_or_notify_cancel():
                return
            try:
                done.set_result(work(page))
            except Exception as error:
                done.set_exception(_in_words(error))

        self._hand_over(run)
        try:
            until(lambda seconds: wait([done], seconds).done or not self._is_alive(), control)
        except AgentError:
            done.cancel()
            raise
        if not done.done():
            raise ToolFailed("The browser could not be started.")
        return done.result()

    def close(self) -> None:
        """Close the browser as soon as it has done what it is at; the next use starts another."""
        with self._lock:
            if self._work is not None:
                self._work.put(None)
            self._work = None

    def _is_alive(self) -> bool:
        with self._lock:
            return self._work is not None

    def _hand_over(self, run: Callable[["Page"], None]) -> None:
        with self._lock:
            if self._work is None:
                self._work = queue.Queue()
                threading.Thread(
                    target=copy_context().run,
                    args=(self._live, self._work),
                    name="browser",
                    daemon=True,
                ).start()
            self._work.put(run)

    def _live(self, work: "queue.Queue[Callable[[Page], None] | None]") -> None:
        from playwright.sync_api import sync_playwright  # heavy, and needed only here

        try:
            with (
                roaming(),
                tempfile.TemporaryDirectory(prefix="turnstone-browser-") as home,
                GuardedProxy(self._reach) as proxy,
                sync_playwright() as playwright,
            ):
                context = self._opened(playwright, proxy, home)
                context.new_page()
                while (run := work.get(timeout=_IDLE_SECONDS)) is not None:
                    run(context.pages[-1] if context.pages else context.new_page())
                with suppress(Exception):
                    context.close()
        except queue.Empty:
            logger.info("A browser was closed because nobody used it")
        except Exception:
            logger.exception("The browser failed")
        finally:
            with self._lock:
                if self._work is work:
                    self._work = None

    def _opened(self, playwright: "Playwright", proxy: GuardedProxy, home: str) -> "BrowserContext":
        browser = playwright.chromium.launch(
            executable_path=self._chromium,
            headless=True,
            # Chromium refuses to guard itself when it is started by root.
            chromium_sandbox=os.getuid() != 0,
            proxy={"server": proxy.address},
            env={"HOME": home, "PATH": os.defpath, "LANG": "C.UTF-8"},
            args=list(_ARGUMENTS),
        )
        context = browser.new_context(
            accept_downloads=False, service_workers="block", viewport={"width": 1024, "height": 768}
        )
        context.set_default_timeout(ACTION_SECONDS * 1000)
        return context


def _in_words(error: Exception) -> Exception:
    """Return an error of the driver in words for the model."""
    if isinstance(error, AgentError):
        return error
    if type(error).__module__.startswith("playwright"):
        said = str(error).partition("\n")[0].partition("Call log")[0][:200]
        return ToolFailed(f"The browser could not do that: {said}")
    return error
