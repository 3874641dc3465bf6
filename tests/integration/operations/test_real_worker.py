"""A real worker tells Prometheus what it did, and names the run in every line of its log."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from chat.models import Run
from project.local import programs
from project.local.processes import Child, start, stop

WaitFor = Callable[..., None]
TOKEN = "a-token-for-scrapes"
SERVES = re.compile(r"Figures for Prometheus at (\S+)")
CALCULATION = 'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}'
SERVERS = {"mcpServers": {"gone": {"command": "/bin/false"}}}


class Worker:
    """A worker process and every object that it logged."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.lines: list[dict[str, Any]] = []
        self.other: list[str] = []
        self.child: Child = start(programs.worker(environment), self._note)

    def _note(self, name: str, line: str) -> None:
        try:
            self.lines.append(json.loads(line))
        except ValueError:
            self.other.append(line)

    def figures_at(self) -> str:
        """Return where it tells its figures, "" before it says so."""
        found = [match for line in self.lines if (match := SERVES.match(line["message"]))]
        return found[0].group(1) if found else ""


@pytest.fixture
def worker(
    parameters: dict[str, Any], address: Callable[..., str], tmp_path: Path
) -> Iterator[Worker]:
    """Start a worker that logs JSON, and one of whose MCP servers is broken."""
    (tmp_path / "mcp.json").write_text(json.dumps(SERVERS))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "TURNSTONE_"))}
    made = Worker(
        kept
        | {
            "DATABASE_URL": address(parameters),
            "WORKER_THREADS": "2",
            "PYTHONUNBUFFERED": "1",
            "TURNSTONE_LOCAL_SERVERS": "none",
            "TURNSTONE_LOG": "json",
            "TURNSTONE_METRICS_TOKEN": TOKEN,
            "TURNSTONE_WORKER_METRICS": "127.0.0.1:0",
            "TURNSTONE_MCP": str(tmp_path / "mcp.json"),
        }
    )
    yield made
    stop([made.child], patience=20)
    print(*made.lines, *made.other, sep="\n")


def scrape(address: str, token: str) -> dict[str, float]:
    header = {"Authorization": f"Bearer {token}"}
    answer = httpx2.get(address, headers=header, timeout=10, trust_env=False).raise_for_status()
    lines = [line.rpartition(" ") for line in answer.text.splitlines()]
    return {name: float(value) for name, _, value in lines if not name.startswith("#")}


def test_a_worker_counts_its_runs_and_names_them_in_its_log(
    worker: Worker, asked: Callable[..., Run], wait_for: WaitFor
) -> None:
    script = [{"say": CALCULATION}, {"say": "Final Answer: 42"}]
    run = asked(script, tools=("calculator", "gone__*"))
    wait_for(lambda: not Run.objects.live().exists(), "the run's end", seconds=60)
    wait_for(worker.figures_at, "the worker's figures")

    figures = scrape(worker.figures_at(), TOKEN)

    run.refresh_from_db()
    assert (run.status, run.attempt) == ("succeeded", 1)
    assert figures['turnstone_attempts_total{kind="first"}'] == 1
    assert figures['turnstone_runs_ended_total{reason="answered",status="succeeded"}'] == 1
    assert figures["turnstone_turn_seconds_count"] == 2
    assert figures["turnstone_stream_lag_seconds_count"] > 0
    with pytest.raises(httpx2.HTTPStatusError, match="404"):
        scrape(worker.figures_at(), "wrong")
    told = {line["message"] for line in worker.lines if line.get("run") == run.pk}
    assert {"Attempt 1 begins", "Attempt 1 is over: succeeded, answered"} <= told
    listing = [line for line in worker.lines if line["thread"].startswith("mcp-listing")]
    assert listing, "the thread that asks MCP servers said nothing"
    assert {(line.get("run"), line.get("attempt")) for line in listing} == {(run.pk, 1)}
