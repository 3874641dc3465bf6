"""What tests of runs share: people, conversations, policies whose model says what it is told."""

import os
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import pytest
from channels.db import database_sync_to_async
from django.db import connection

from agents.policies.spec import Limits, PolicySpec
from agents.providers.choice import ModelChoice
from chat.models import Conversation, Membership, Policy, PolicyVersion, Run, Space, User
from chat.runs.ask import ask
from chat.runs.stop import request_stop, stop
from tests.integration.here import close_here, here
from tests.integration.web_process import Web
from tests.worker_stage.phases import Phase
from tests.worker_stage.worker import Stage, stage

Script = Sequence[dict[str, Any]]


@pytest.fixture
def ada(transactional_db: None) -> User:
    """Make a member."""
    return User.objects.create_user("ada", password="ada-secret-1")


@pytest.fixture
def bob(transactional_db: None) -> User:
    """Make another member, who has no business with Ada's conversations."""
    return User.objects.create_user("bob", password="bob-secret-1")


@pytest.fixture
def conversation(ada: User) -> Conversation:
    """Make an empty conversation of Ada's."""
    return Conversation.objects.create(owner=ada)


@pytest.fixture
def team(ada: User, bob: User) -> Space:
    """Make a team of Ada and Bob."""
    team = Space.objects.create(name="Red team", slug="red")
    for user in (ada, bob):
        Membership.objects.create(space=team, user=user)
    return team


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    """Keep the artifacts of one test in a folder of its own."""
    folder = tmp_path / "artifacts"
    options = {"BACKEND": "chat.artifacts.folder.Folder", "OPTIONS": {"location": str(folder)}}
    settings.STORAGES = {**settings.STORAGES, "artifacts": options}
    return folder


@pytest.fixture
def scripted(transactional_db: None) -> Callable[..., PolicyVersion]:
    """Publish a policy with a scripted model: `scripted([{"say": "…"}], tools=("calculator",))`."""

    def publish(script: Script, **fields: Any) -> PolicyVersion:
        policy = Policy.objects.create(slug=f"scripted-{uuid.uuid4().hex[:8]}", name="Scripted")
        model = ModelChoice(provider="scripted", script=tuple(script))
        limits = Limits(**fields.pop("limits", {}))
        spec = {"policy": "explicit", "model": model, "limits": limits} | fields
        return policy.publish(PolicySpec.model_validate(spec))

    return publish


@pytest.fixture
def ask_in(scripted: Callable[..., PolicyVersion]) -> Callable[..., Run]:
    """Ask in some conversation: `run = ask_in(conversation, [{"say": "Final Answer: 4"}])`."""

    def ask_it(
        place: Conversation, script: Script = (), question: str = "What is 2 + 2?", **fields: Any
    ) -> Run:
        version = scripted(script, **fields)
        return ask(place, question, policy_version=version, client_message_id=uuid.uuid4())

    return ask_it


@pytest.fixture
def asked(conversation: Conversation, ask_in: Callable[..., Run]) -> Callable[..., Run]:
    """Ask a question of a scripted policy: `run = asked([{"say": "Final Answer: 4"}])`."""

    def ask_it(script: Script, question: str = "What is 2 + 2?", **fields: Any) -> Run:
        return ask_in(conversation, script, question, **fields)

    return ask_it


@pytest.fixture(autouse=True)
def _another_worker() -> Iterator[None]:
    """Give each test a worker of its own in this process, if it asks for one."""
    yield
    close_here()


class Working:
    """Work on runs in threads of their own, as a worker does, for the length of a block."""

    def __init__(self, *runs: Run) -> None:
        self._runs = runs
        self._threads = [threading.Thread(target=_work, args=(run.pk,)) for run in runs]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for run in self._runs:
            request_stop(run)
        self.wait()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        await database_sync_to_async(self.__exit__)()

    def wait(self) -> None:
        """Wait until the threads are done."""
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive(), "A worker's thread did not come to an end."


@pytest.fixture
def working(transactional_db: None) -> type[Working]:
    """Work on runs: `with working(run): …`, or `async with`; what still runs then is stopped."""
    return Working


def _work(run_id: int) -> None:
    try:
        here().work(run_id)
    finally:
        connection.close()


@pytest.fixture(scope="module")
def _worker(
    django_db_setup: None, valkey_server: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    name = str(connection.settings_dict["NAME"])
    parts = urlsplit(os.environ["DATABASE_URL"])
    path = f"{parts.path.rpartition('/')[0]}/{name}"
    database = urlunsplit(parts._replace(path=path))
    with stage(tmp_path_factory.mktemp("stop"), database, os.environ["REDIS_URL"]) as made:
        yield made


@pytest.fixture
def worker(
    _worker: Stage, transactional_db: None, valkey: object, wait_for: Callable[..., None]
) -> Iterator[Stage]:
    """Give a real worker whose ways to the stores can be disturbed; no run outlives its test."""
    _worker.heal()
    yield _worker
    _worker.heal()
    for run in Run.objects.live():
        stop(run)
    wait_for(lambda: not Run.objects.live().exists(), "the end of all runs")


@pytest.fixture
def begun(
    worker: Stage,
    conversation: Conversation,
    scripted: Callable[..., PolicyVersion],
    wait_for: Callable[..., None],
) -> Callable[[Phase], Run]:
    """Ask a question and wait until its run is in the phase."""

    def begin(phase: Phase) -> Run:
        spec = phase.spec(worker)
        version = scripted(spec["model"].script, **spec)
        runs = [
            ask(conversation, "Go", policy_version=version, client_message_id=uuid.uuid4())
            for _ in range(phase.others + 1)
        ]
        try:
            wait_for(lambda: phase.is_reached(worker, runs[-1]), f"a run {phase.name}", seconds=40)
        except AssertionError:
            pytest.fail(f"No run came to be {phase.name}:\n{worker.log.read_text()[-5000:]}")
        return runs[-1]

    return begin


@pytest.fixture(scope="session", params=["daphne", "uvicorn"])
def web(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Web]:
    """Start a web process alone with each server: no database of this test, and no worker."""
    made = Web(tmp_path_factory.mktemp("web") / "web.log", request.param)
    assert b"alive" in made.get("/healthz")
    yield made
    made.stop()
