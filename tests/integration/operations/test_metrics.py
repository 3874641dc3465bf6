"""What Prometheus is told, and that strangers are told nothing."""

import json
import logging
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import AsyncClient, Client
from django.utils import timezone
from pytest_django import Settings

from chat.models import Conversation, PolicyVersion, Run, User
from chat.runs.lease import release_expired
from chat.runs.stop import stop
from chat.runs.worker.claim import claim
from project.logging import JsonFormatter
from project.ops.metrics import serve_worker
from tests.integration.here import here

TOKEN = "a-token-for-scrapes"
CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'


@pytest.fixture
def scrape(settings: Settings, transactional_db: None) -> Callable[[], dict[str, float]]:
    """Return all figures of /metrics: `scrape()["turnstone_leases_overdue"]`."""
    settings.METRICS_TOKEN = TOKEN

    def read() -> dict[str, float]:
        answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        return figures_in(answer.content.decode())

    return read


def figures_in(text: str) -> dict[str, float]:
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def gained(after: dict[str, float], before: dict[str, float], name: str) -> float:
    return after[name] - before.get(name, 0.0)


async def test_a_stranger_finds_no_metrics(async_client: AsyncClient, db: None) -> None:
    answer = await async_client.get("/metrics")

    assert answer.status_code == 404


@pytest.mark.parametrize("header", ["Bearer ", "Bearer wrong", TOKEN, f"bearer{TOKEN}", ""])
def test_a_wrong_token_finds_no_metrics(settings: Settings, db: None, header: str) -> None:
    settings.METRICS_TOKEN = TOKEN

    answer = Client().get("/metrics", headers={"Authorization": header})

    assert answer.status_code == 404


def test_an_empty_token_opens_nothing(settings: Settings, db: None) -> None:
    settings.METRICS_TOKEN = ""

    answer = Client().get("/metrics", headers={"Authorization": "Bearer "})

    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("groups", "status"), [((), 404), (("reviewer",), 404), (("analyst",), 404), (("admin",), 200)]
)
def test_of_those_signed_in_only_an_administrator_sees_metrics(
    ada: User, groups: tuple[str, ...], status: int
) -> None:
    ada.groups.set([Group.objects.get_or_create(name=name)[0] for name in groups])
    client = Client()
    client.force_login(ada)

    assert client.get("/metrics").status_code == status


def test_the_metrics_are_what_prometheus_reads_and_no_cache_keeps(
    settings: Settings, db: None
) -> None:
    settings.METRICS_TOKEN = TOKEN

    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "no-store" in answer.headers["Cache-Control"]
    for line in answer.content.decode().splitlines():
        assert re.fullmatch(r'#.*|[a-z_]+(\{(\w+="[^"]*",?)+\})? [-+.\de]+(Inf|NaN)?', line), line


def test_the_queue_is_read_at_the_scrape(
    asked: Callable[..., Run],
    ask_in: Callable[..., Run],
    ada: User,
    scrape: Callable[[], dict[str, float]],
) -> None:
    runs = [asked([{"say": "hm"}]) for _ in range(3)]
    ask_in(Conversation.objects.create(owner=ada, kind="trial"))
    Run.objects.filter(pk=runs[0].pk).update(created_at=timezone.now() - timedelta(hours=1))
    held = claim(runs[2].pk, "a worker that is gone")
    assert held is not None
    Run.objects.filter(pk=held.pk).update(lease_until=timezone.now() - timedelta(seconds=1))

    seen = scrape()

    assert seen['turnstone_runs{lane="chat",status="queued"}'] == 2
    assert seen['turnstone_runs{lane="batch",status="queued"}'] == 1
    assert seen['turnstone_runs_oldest_seconds{lane="batch",status="queued"}'] < 3000
    assert seen['turnstone_runs{lane="chat",status="running"}'] == 1
    assert seen['turnstone_runs{lane="chat",status="waiting"}'] == 0
    assert 3600 <= seen['turnstone_runs_oldest_seconds{lane="chat",status="queued"}'] < 3700
    assert seen["turnstone_leases_overdue"] == 1
    assert seen["turnstone_database_up"] == 1
    assert seen['turnstone_database_connections{state="used"}'] >= 0


def test_a_scrape_of_a_process_without_its_database_still_tells_its_own_figures(
    settings: Settings, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")

    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})

    seen = figures_in(answer.content.decode())
    assert seen["turnstone_database_up"] == 0
    assert "turnstone_runs_asked_total" in seen
    assert 'turnstone_runs{lane="chat",status="queued"}' not in seen


def test_a_run_is_counted_and_timed(
    asked: Callable[..., Run], scrape: Callable[[], dict[str, float]]
) -> None:
    before = scrape()
    usage = {"usage": {"input_tokens": 100, "output_tokens": 20}}
    run = asked([{"say": CALCULATION, **usage}, {"say": "Final Answer: 42"}], tools=("calculator",))
    here().work(run.pk)

    after = scrape()

    expected = {
        "turnstone_runs_asked_total": 1,
        'turnstone_attempts_total{kind="first"}': 1,
        "turnstone_queue_seconds_count": 1,
        'turnstone_runs_ended_total{reason="answered",status="succeeded"}': 1,
        'turnstone_run_seconds_count{status="succeeded"}': 1,
        "turnstone_turn_seconds_count": 2,
        "turnstone_first_text_seconds_count": 1,
        'turnstone_model_calls_total{provider="scripted",result="ok"}': 2,
        'turnstone_model_first_token_seconds_count{provider="scripted"}': 2,
        'turnstone_tokens_total{direction="input",provider="scripted"}': 100,
        'turnstone_tokens_total{direction="output",provider="scripted"}': 20,
    }
    assert {name: gained(after, before, name) for name in expected} == expected


def test_a_run_that_ends_before_any_worker_has_it_is_counted_too(
    asked: Callable[..., Run], scrape: Callable[[], dict[str, float]]
) -> None:
    run = asked([{"say": "hm"}])
    before = scrape()

    stop(run)

    name = 'turnstone_runs_ended_total{reason="stopped",status="stopped"}'
    assert gained(scrape(), before, name) == 1


@contextmanager
def serving(settings: Settings, where: str, token: str) -> Iterator[int | None]:
    settings.WORKER_METRICS, settings.METRICS_TOKEN = where, token
    server = serve_worker()
    yield None if server is None else server.server_port
    if server is not None:
        server.shutdown()
        server.server_close()


def ask(port: int, path: str = "/metrics", token: str = "") -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_a_worker_tells_its_own_figures_to_who_brings_the_token(settings: Settings) -> None:
    with serving(settings, "127.0.0.1:0", TOKEN) as port:
        assert port is not None
        assert ask(port)[0] == 404
        assert ask(port, token="wrong")[0] == 404
        assert ask(port, "/", token=TOKEN)[0] == 404
        status, text = ask(port, token=TOKEN)

    assert (status, "turnstone_stream_lag_seconds_count" in text) == (200, True)


def test_two_workers_of_one_machine_take_two_ports(settings: Settings) -> None:
    with serving(settings, "127.0.0.1:0", "") as first:
        assert first is not None
        with serving(settings, f"127.0.0.1:{first}-{first + 20}", "") as second:
            assert second is not None
            assert (first < second <= first + 20, ask(second)[0]) == (True, 200)
        with serving(settings, f"127.0.0.1:{first}", "") as third:
            assert third is None


@pytest.mark.parametrize("where", ["0.0.0.0:0", ":0", "nonsense", "127.0.0.1:http", ""])
def test_a_worker_without_a_token_never_listens_for_other_machines(
    settings: Settings, where: str
) -> None:
    with serving(settings, where, "") as port:
        assert port is None


def test_a_lease_that_expired_is_counted(
    asked: Callable[..., Run], scrape: Callable[[], dict[str, float]]
) -> None:
    run = claim(asked([{"say": "hm"}]).pk, "a worker that is gone")
    assert run is not None
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    before = scrape()

    release_expired()

    after = scrape()
    assert gained(after, before, "turnstone_leases_expired_total") == 1
    assert after['turnstone_runs{lane="chat",status="interrupted"}'] == 1


def test_every_line_of_a_runs_thread_names_the_run_and_its_attempt(
    asked: Callable[..., Run], capfd: pytest.CaptureFixture[str]
) -> None:
    run = asked([{"say": "hm"}])
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.getLogger("chat.runs").addHandler(handler)
    Run.objects.filter(pk=run.pk).update(attempt=20)
    PolicyVersion.objects.update(content={"policy": 7})
    try:
        here().work(run.pk)
    finally:
        logging.getLogger("chat.runs").removeHandler(handler)

    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line[:1] == "{"]
    about = [line for line in lines if "is not a policy" in line["message"]]
    assert [(line["run"], line["attempt"]) for line in about] == [(run.pk, 21)]
