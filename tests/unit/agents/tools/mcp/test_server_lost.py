"""A server that dies, hangs, is down or was started anew is survived."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.contracts import Observation
from agents.control import Control
from agents.errors import Stopped
from agents.tools.mcp.connection import connection
from agents.tools.mcp.servers import McpServer
from agents.tools.mcp.tools import unreachable
from tests.unit.agents.tools.mcp.real_servers import EVERYTHING, call, node, offers, processes


def test_a_server_that_died_is_started_again_on_the_next_use(everything: McpServer) -> None:
    kit = offers(everything)
    (server,) = processes(str(EVERYTHING))
    server.kill()
    server.wait(20)
    link = connection(everything)
    assert link._link is not None
    while not link._link.is_gone:
        threading.Event().wait(0.02)

    assert call(kit, "all__echo", message="again").text == "Echo: again"


def test_a_server_that_dies_during_a_call_is_a_failure_and_then_used_again(
    everything: McpServer,
) -> None:
    kit = offers(everything)
    (server,) = processes(str(EVERYTHING))
    threading.Timer(0.5, server.kill).start()

    during = call(kit, "all__trigger-long-running-operation", duration=50, steps=2)

    assert during.error == "ToolFailed"
    assert call(kit, "all__echo", message="again").text == "Echo: again"


def test_a_stop_leaves_a_long_call_and_keeps_the_server(everything: McpServer) -> None:
    kit = offers(everything)
    control = Control()
    threading.Timer(0.3, control.stop).start()

    with pytest.raises(Stopped):
        call(kit, "all__trigger-long-running-operation", control, duration=50, steps=2)

    assert call(kit, "all__echo", message="there").text == "Echo: there"
    assert len(processes(str(EVERYTHING))) == 1


def test_a_call_past_its_servers_timeout_is_a_failure(serve: Callable[..., McpServer]) -> None:
    slow = serve("slow", command=node(), args=(str(EVERYTHING), "stdio"), timeout=0.5)

    seen = call(offers(slow), "slow__trigger-long-running-operation", duration=50, steps=2)

    assert seen.error == "ToolTimeout"


def test_a_closed_server_leaves_no_process(everything: McpServer) -> None:
    call(offers(everything), "all__echo", message="x")

    connection(everything).close()

    assert processes(str(EVERYTHING)) == []


def test_a_server_that_is_down_takes_only_its_own_tools_away(
    serve: Callable[..., McpServer], everything: McpServer, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    down = serve("down", url=f"http://127.0.0.1:{port}/mcp?key=sk-secret")
    absent = serve("absent", command=str(tmp_path / "no-such-program"))
    mute = serve("mute", command=sys.executable, args=("-c", "pass"))

    kit = offers(down, absent, mute, everything)

    assert {name.partition("__")[0] for name in kit.names} == {"all"}
    reasons = unreachable([down, absent, mute, everything])
    assert set(reasons) == {"down__*", "absent__*", "mute__*"}
    assert "sk-secret" not in str(reasons)


@pytest.fixture
def remote(serve: Callable[..., McpServer]) -> Iterator[tuple[McpServer, Callable[[], None]]]:
    """Run a server on HTTP; call the second value to start it anew on the same port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    running: list[subprocess.Popen[str]] = []

    def end() -> None:
        for process in running:
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()
        running.clear()

    def start() -> None:
        end()
        process = subprocess.Popen(
            [node(), str(EVERYTHING), "streamableHttp"],
            env={"PORT": str(port), "PATH": "/usr/bin"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stderr is not None
        for line in process.stderr:
            if "listening" in line:
                break

    start()
    yield serve("web", url=f"http://127.0.0.1:{port}/mcp"), start
    end()


def test_a_server_on_http_is_used_as_well(
    remote: tuple[McpServer, Callable[[], None]],
) -> None:
    kit = offers(remote[0])

    assert call(kit, "web__echo", message="hi") == Observation(text="Echo: hi")


def test_a_server_on_http_that_was_started_anew_is_used_again(
    remote: tuple[McpServer, Callable[[], None]],
) -> None:
    server, start_anew = remote
    kit = offers(server)
    call(kit, "web__echo", message="hi")
    start_anew()

    first = call(kit, "web__echo", message="hi")
    second = call(kit, "web__echo", message="hi")

    assert first.error in (None, "ToolFailed")
    assert second.text == "Echo: hi"
