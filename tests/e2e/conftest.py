"""The whole product as processes, and a real browser in front of it."""

import os
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psutil
import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from playwright.sync_api import Page, Playwright, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from chat.models import Run, User, Worker
from chat.policies import publish_seeds
from chat.runs.stop import request_stop
from project.local import programs
from project.local.processes import Child, Program, start, stop
from tests.e2e.chromium import Chromium

# Playwright keeps a loop running in the test's thread, where Django would refuse its own ORM.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

expect.set_options(timeout=15_000)  # a machine may be busy; what is waited for comes or not

ANSWERED = re.compile(r"access: (websocket\.|\w+ \S+ [23]\d\d,)")
"""What the web process says of requests that went well: thousands of lines under a failure."""


class Stack:
    """Daphne and a Celery worker on the test database; both can be killed and started again."""

    def __init__(self, logs: Path, environment: dict[str, str]) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._environment = environment
        self._logs = logs
        self._children: dict[str, Child] = {}
        self._python = sys.executable
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def start(self, wait: bool = True) -> None:
        """Start whichever of the two does not run, and wait until the whole answers."""
        was_started = False
        for program in (self._web(), self._by_its_python(programs.worker(self._environment))):
            child = self._children.get(program.name)
            if child is None or child.code is not None:
                self._children[program.name] = start(program, self._note)
                was_started = True
        if wait and was_started:
            _wait_for(self._is_up, lambda: f"/readyz to be well\n{self.log()}")

    def take_python(self, python: str = sys.executable) -> None:
        """Go on with the Python of another environment, or with that of the tests again."""
        self._python = python
        self.stop_worker()
        self.restart_web()

    def manage(self, *words: str) -> None:
        """Run a command of `manage.py`."""
        command = [self._python, "manage.py", *words]
        subprocess.run(command, env=self._environment, check=True, capture_output=True)

    def restart_worker(self) -> None:
        """Stop the worker as a deployment does, and start another."""
        self.stop_worker()
        self.start()

    def stop_worker(self) -> None:
        """Stop the worker as a deployment does; `start` brings another."""
        stop([self._children["worker"]], patience=20)

    def kill_worker(self) -> None:
        """End the worker as a power cut does; `start` brings another."""
        self._children["worker"].kill()

    def restart_web(self) -> None:
        """Stop Daphne and start another at the same address."""
        stop([self._children["web"]], patience=20)
        self.start()

    def kill_web(self) -> None:
        """End Daphne as a power cut does; `start` brings another."""
        self._children["web"].kill()

    def web_memory(self) -> int:
        """Return the bytes that Daphne holds in memory."""
        return int(psutil.Process(self._children["web"].pid).memory_info().rss)

    def stop(self) -> None:
        """End both."""
        stop(self._children.values(), patience=10)
        self._socket.close()

    def is_ready(self) -> bool:
        """Tell whether /readyz says so."""
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=5) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _is_up(self) -> bool:
        """Tell whether it is ready by this very worker; one that was killed counts for a while."""
        worker = self._children["worker"].pid
        return Worker.objects.filter(name__contains=f":{worker}:").exists() and self.is_ready()

    def log(self) -> str:
        """Return what both have written so far."""
        return "\n".join(path.read_text() for path in sorted(self._logs.glob("*.log")))

    def _web(self) -> Program:
        descriptor = self._socket.fileno()
        program = programs.web(("--fd", str(descriptor)), self._environment)
        return replace(self._by_its_python(program), descriptors=(descriptor,))

    def _by_its_python(self, program: Program) -> Program:
        return replace(program, command=(self._python, *program.command[1:]))

    def _note(self, name: str, line: str) -> None:
        with (self._logs / f"{name}.log").open("a") as log:
            log.write(f"{name} | {line}\n")


@pytest.fixture(scope="session")
def _stack(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    valkey_server: object,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    stack = Stack(tmp_path_factory.mktemp("stack"), environment())
    try:
        yield stack
    finally:
        stack.stop()


def environment() -> dict[str, str]:
    """Point both processes at the test database, and at no model but the demo."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    folder = parts.path.rpartition("/")[0]
    name = str(connection.settings_dict["NAME"])
    database = urlunsplit(parts._replace(path=f"{folder}/{name}"))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "TURNSTONE_"))}
    return kept | {
        "DATABASE_URL": database,
        "TURNSTONE_ARTIFACTS": os.environ["TURNSTONE_ARTIFACTS"],
        "DATABASE_POOL": "8",
        "WORKER_THREADS": "8",
        "TURNSTONE_LOCAL_SERVERS": "none",
        "TURNSTONE_GRACE_SECONDS": "0",
        "TURNSTONE_LEASE_SECONDS": "10",
        "TURNSTONE_SERVER": os.environ.get("TURNSTONE_SERVER", "daphne"),
    }


@pytest.fixture
def stack(_stack: Stack, transactional_db: None, valkey: object) -> Iterator[Stack]:
    """Give the running product with an empty database; no run outlives its test."""
    _stack.start()
    yield _stack
    for run in Run.objects.live():
        request_stop(run)
    if not _seen(lambda: not Run.objects.live().exists(), seconds=5):
        _stack.kill_worker()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the processes wrote beside a failure."""
    report = yield
    given = getattr(item, "funcargs", {})
    stacks = {id(one): one for one in given.values() if isinstance(one, Stack)}.values()
    if report.failed and stacks:
        log = "\n".join(one.log() for one in stacks)
        told = [line for line in log.splitlines() if not ANSWERED.search(line)]
        report.sections.append(("The stack's log", "\n".join(told)[-20_000:]))
    return report


@pytest.fixture(scope="session")
def _playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def _chromium(_playwright: Playwright) -> Iterator[Chromium]:
    chromium = Chromium(_playwright)
    yield chromium
    chromium.quit()


@pytest.fixture(scope="session")
def _lasting_chromium(_playwright: Playwright) -> Iterator[Chromium]:
    chromium = Chromium(_playwright, forgets_pages=False)
    yield chromium
    chromium.quit()


@pytest.fixture
def window(_chromium: Chromium) -> Iterator[Callable[..., Page]]:
    """Open empty windows that share nothing: `plain = window(java_script_enabled=False)`."""
    yield from _windows(_chromium)


@pytest.fixture
def lasting_window(_lasting_chromium: Chromium) -> Iterator[Callable[..., Page]]:
    """Open windows of a browser that keeps pages alive which one leaves, to go back to them."""
    yield from _windows(_lasting_chromium)


def _windows(chromium: Chromium) -> Iterator[Callable[..., Page]]:
    contexts = []

    def open_window(**options: Any) -> Page:
        contexts.append(chromium.open(**options))
        return contexts[-1].new_page()

    yield open_window
    for context in contexts:
        chromium.close(context)


@pytest.fixture
def page(stack: Stack, window: Callable[..., Page]) -> Page:
    """Open an empty window on the stack, `page.goto("/")` being its first page; nobody is in."""
    return window(base_url=stack.url, viewport={"width": 1280, "height": 800})


@pytest.fixture
def person(transactional_db: None) -> Callable[..., User]:
    """Make a person: `ada = person("ada")`; the password is `<name>-secret-1`."""

    def make(username: str, **fields: Any) -> User:
        return get_user_model().objects.create_user(
            username, password=f"{username}-secret-1", **fields
        )

    return make


@pytest.fixture
def sign_in(stack: Stack) -> Callable[[Page, User], None]:
    """Sign a person in without the form: `sign_in(page, ada)`."""

    def enter(page: Page, user: User) -> None:
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        page.context.add_cookies([{"name": "sessionid", "value": session, "url": stack.url}])

    return enter


@pytest.fixture
def ada(person: Callable[..., User], sign_in: Callable[[Page, User], None], page: Page) -> User:
    """Sign Ada in on the page, with the policies of a fresh installation."""
    publish_seeds()
    ada = person("ada")
    sign_in(page, ada)
    return ada


def _wait_for(is_seen: Callable[[], bool], what: Callable[[], str], seconds: float = 30) -> None:
    if not _seen(is_seen, seconds):
        pytest.fail(f"Waited {seconds:.0f} s in vain for {what()}")


def _seen(is_seen: Callable[[], bool], seconds: float) -> bool:
    pause = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if is_seen():
            return True
        pause.wait(0.05)
    return False
