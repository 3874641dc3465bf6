"""A browser that cannot hang the suite: where Chromium answers no more, another takes its place."""

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, BrowserContext, Error, Playwright

PLACES = ("/usr/bin/chromium", "/usr/bin/google-chrome", "/usr/bin/chromium-browser")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_SECONDS = 15.0


class Chromium:
    """TURNSTONE_CHROMIUM, the machine's own browser, or Playwright's.

    Once in a while Chromium does not answer the wish to close a context, and Playwright waits for
    ever; that the next test gets a new browser is then all that can be done. A page that one leaves
    is forgotten, as Playwright has it; people's browsers keep it alive to show it again.
    """

    def __init__(self, playwright: Playwright, forgets_pages: bool = True) -> None:
        found = [path for path in PLACES if Path(path).exists()]
        self._path = os.environ.get("TURNSTONE_CHROMIUM") or (found[0] if found else None)
        self._playwright = playwright
        self._unlike_playwright = [] if forgets_pages else ["--disable-back-forward-cache"]
        self._processes: set[psutil.Process] = set()
        self._browser = self._launched()

    def open(self, **options: Any) -> BrowserContext:
        """Open a context, which knows nobody yet."""
        if not self._browser.is_connected():
            self._browser = self._launched()
        context = self._browser.new_context(**options)
        context.set_default_timeout(15_000)
        return context

    def close(self, context: BrowserContext) -> None:
        """Close a context, and the whole browser if that takes too long."""
        watch = threading.Timer(PATIENCE_SECONDS, self._kill)
        watch.start()
        try:
            with suppress(Error):  # of what was killed; the next one is launched
                context.close()
        finally:
            watch.cancel()

    def quit(self) -> None:
        """End the browser."""
        watch = threading.Timer(PATIENCE_SECONDS, self._kill)
        watch.start()
        try:
            self._browser.close()
        finally:
            watch.cancel()

    def _launched(self) -> Browser:
        others = set(psutil.Process().children(recursive=True))
        browser = self._playwright.chromium.launch(
            executable_path=self._path, args=OPTIONS, ignore_default_args=self._unlike_playwright
        )
        self._processes = set(psutil.Process().children(recursive=True)) - others
        return browser

    def _kill(self) -> None:
        for process in self._processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
