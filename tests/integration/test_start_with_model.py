"""`make run MODEL=`: a model on this machine is started, watched and stopped with all the rest."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import psutil
import pytest

from project.local.model import named
from tests.integration.launch import Launch, copy_of_the_checkout
from tests.unit.project.gguf_files import TINY, write

pytestmark = pytest.mark.processes

Wait = Callable[..., None]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what a checkout needs to run."""
    return copy_of_the_checkout(tmp_path_factory.mktemp("with a model"))


@pytest.fixture
def launch(checkout: Path) -> Iterator[Callable[[str], Launch]]:
    """Start a launcher with a model; all of it is gone at the end."""
    launches: list[Launch] = []

    def begin(model: str) -> Launch:
        launches.append(Launch(checkout, MODEL=model))
        return launches[-1]

    yield begin
    for one in launches:
        if one.process.poll() is None:
            one.end(signal.SIGTERM)


def address(running: Launch) -> str:
    """Return where the model listens; it must listen there alone."""
    listening = running.part("model").net_connections("inet")
    found = [one.laddr for one in listening if one.status == psutil.CONN_LISTEN]
    assert [where.ip for where in found] == ["127.0.0.1"]
    return f"http://127.0.0.1:{found[0].port}"


def test_a_model_by_name_is_served_started_anew_and_stopped(
    launch: Callable[[str], Launch], wait_for: Wait
) -> None:
    running = launch("smollm2")
    wait_for(lambda: running.url or running.process.poll() is not None, "the start", 120)
    assert "Answers come from smollm2 on this machine" in running.output
    place, killed = address(running), running.part("model")
    told = running.part("worker").environ()
    assert (told["OPENAI_BASE_URL"], told["TURNSTONE_MODEL"]) == (f"{place}/v1", "smollm2")

    killed.kill()

    wait_for(lambda: "model was ended by SIGKILL" in running.output, "words on what died")
    wait_for(lambda: _answers(place), "the model again", 60)
    assert running.part("model").pid != killed.pid
    assert _get(f"{place}/v1/models").status_code == 401
    props = _get(f"{place}/props", told["OPENAI_API_KEY"]).json()
    assert props["total_slots"] == int(told["TURNSTONE_LOCAL_LIMIT"])
    family = running.family()
    assert running.end(signal.SIGINT) == 0
    assert not [one for one in family if one.is_running()]
    assert told["OPENAI_API_KEY"] not in running.output


def test_a_file_that_llama_cpp_cannot_load_ends_the_start_in_one_line(
    launch: Callable[[str], Launch], tmp_path: Path
) -> None:
    refused = launch(str(write(tmp_path / "hollow.gguf", TINY)))

    assert refused.finished() == 1
    assert "hollow.gguf: the file is damaged" in refused.lines[-1]
    assert "Traceback" not in refused.output


def test_a_file_that_breaks_off_ends_the_start_before_anything_is_started(
    launch: Callable[[str], Launch], tmp_path: Path
) -> None:
    path = tmp_path / "cut.gguf"
    with named.file_of("smollm2", tmp_path).open("rb") as whole:
        path.write_bytes(whole.read(5000))

    refused = launch(str(path))

    assert refused.finished() == 1
    assert len(refused.lines) == 1
    assert f"turnstone: {path} breaks off in the middle" in refused.output


def test_an_unknown_model_is_refused_in_one_line(launch: Callable[[str], Launch]) -> None:
    refused = launch("gpt-9")

    assert refused.finished() == 1
    assert len(refused.lines) == 1
    assert "MODEL=gpt-9 is not known here: take smollm2" in refused.output


def _get(url: str, key: str = "") -> httpx2.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx2.get(url, headers=headers, timeout=5, trust_env=False)


def _answers(place: str) -> bool:
    try:
        return _get(f"{place}/health").status_code == 200
    except httpx2.HTTPError:
        return False
