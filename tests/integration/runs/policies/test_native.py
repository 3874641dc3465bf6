"""Runs under the native policy: through the worker, against servers of all four dialects."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.contracts import Status
from agents.providers.vendors import RemoteName
from chat.models import Run, RunStatus, Turn, User
from chat.operations.verify import Verdict, verify
from chat.runs.stop import stop
from tests.integration.here import here
from tests.worker_stage.worker import Stage

TWO = ({"expression": "6 * 7"}, {"expression": "6 * 8"})


class Server(ThreadingHTTPServer):
    """A model server that calls the calculator twice in one reply, and then answers."""

    daemon_threads = True

    def __init__(self, dialect: RemoteName) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.dialect = dialect
        self.base_url = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[dict[str, Any]] = []


class _Answer(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self.send_error(404)  # this server says nothing of its model
            return
        self.server.asked.append(asked)
        code, said = self.say(asked)
        body = json.dumps(said).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def say(self, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, SAYS[self.server.dialect](is_first=len(self.server.asked) == 1)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


def in_openai(*, is_first: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "They are 42 and 48."}
    if is_first:
        message = {
            "role": "assistant",
            "content": "I calculate.",
            "reasoning_content": "Two products.",
            "tool_calls": [
                {
                    "id": f"call_{n}",
                    "type": "function",
                    "function": {"name": "calculator", "arguments": json.dumps(inputs)},
                }
                for n, inputs in enumerate(TWO)
            ],
        }
    stop = "tool_calls" if is_first else "stop"
    return {"choices": [{"index": 0, "message": message, "finish_reason": stop}]}


def in_anthropic(*, is_first: bool) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "They are 42 and 48."}]
    if is_first:
        blocks = [
            {"type": "thinking", "thinking": "Two products.", "signature": "c2lnbmVk"},
            {"type": "text", "text": "I calculate."},
            *(
                {"type": "tool_use", "id": f"toolu_{n}", "name": "calculator", "input": inputs}
                for n, inputs in enumerate(TWO)
            ),
        ]
    stop = "tool_use" if is_first else "end_turn"
    usage = {"input_tokens": 7, "output_tokens": 3}
    return {"type": "message", "content": blocks, "stop_reason": stop, "usage": usage}


def in_gemini(*, is_first: bool) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": "They are 42 and 48."}]
    if is_first:
        parts = [{"functionCall": {"name": "calculator", "args": inputs}} for inputs in TWO]
        parts[0]["thoughtSignature"] = "c2lnbmVk"
        parts.insert(0, {"text": "I calculate."})
    return {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}


def in_ollama(*, is_first: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "They are 42 and 48."}
    if is_first:
        made = [{"function": {"name": "calculator", "arguments": inputs}} for inputs in TWO]
        message = {"role": "assistant", "content": "I calculate.", "tool_calls": made}
    return {"message": message, "done": True, "done_reason": "stop"}


SAYS: dict[RemoteName, Callable[..., dict[str, Any]]] = {
    "openai": in_openai,
    "anthropic": in_anthropic,
    "gemini": in_gemini,
    "ollama": in_ollama,
}


@contextmanager
def serving(dialect: RemoteName) -> Iterator[Server]:
    server = Server(dialect)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def results(dialect: RemoteName, body: dict[str, Any]) -> list[str]:
    """Return the results that a request tells of, each with the id of its call where it has one."""
    match dialect:
        case "openai":
            told = [m for m in body["messages"] if m["role"] == "tool"]
            return [f"{m['tool_call_id']} {m['content']}" for m in told]
        case "anthropic":
            blocks = body["messages"][-1]["content"]
            return [f"{b['tool_use_id']} {b['content'][0]['text']}" for b in blocks]
        case "gemini":
            parts = body["contents"][-1]["parts"]
            return [part["functionResponse"]["response"]["result"] for part in parts]
        case _:
            return [m["content"] for m in body["messages"] if m["role"] == "tool"]


KEPT: dict[RemoteName, str] = {
    "openai": '"reasoning_content": "Two products."',
    "anthropic": '"signature": "c2lnbmVk"',
    "gemini": '"thoughtSignature": "c2lnbmVk"',
    "ollama": '"tool_calls"',
}
"""What each server gets back with its calls."""


@pytest.mark.parametrize("dialect", SAYS)
def test_calls_and_results_go_over_the_wire_and_into_the_record(
    asked: Callable[..., Run], dialect: RemoteName
) -> None:
    with serving(dialect) as server:
        model = {"provider": dialect, "model": "m", "base_url": server.base_url}
        run = asked([], policy="native", tools=("calculator",), model=model)
        here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer, run.message) == (
        RunStatus.SUCCEEDED,
        "They are 42 and 48.",
        "",
    )
    first, last = run.turns.all()
    assert [action.observation for action in first.actions] == ["42", "48"]
    assert "I calculate." in first.thought
    assert (last.kind, last.actions) == ("final", [])
    assert len(server.asked) == 2
    assert "calculator" in json.dumps(server.asked[0]["tools"])
    told = results(dialect, server.asked[1])
    assert ["42" in result for result in told] == [True, False]
    assert ["48" in result for result in told] == [False, True]
    assert KEPT[dialect] in json.dumps(server.asked[1])
    assert verify(run).verdict is Verdict.AGREES


REFUSAL = {"error": {"message": "m does not support tools"}}


def test_a_server_that_takes_no_tools_is_told_of_them_in_text(asked: Callable[..., Run]) -> None:
    replies = iter(
        [
            'Thought: go\nAction: calculator\nAction Input: {"expression": "6 * 7"}',
            "Thought: I know.\nFinal Answer: It is 42.",
        ]
    )

    class Refusing(_Answer):
        def say(self, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            if "tools" in asked:
                return 400, REFUSAL
            return 200, {"message": {"content": next(replies)}, "done": True}

    with serving("ollama") as server:
        server.RequestHandlerClass = Refusing
        model = {"provider": "ollama", "model": "m", "base_url": server.base_url}
        run = asked([], policy="native", tools=("calculator",), model=model)
        here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "It is 42.")
    assert ["tools" in body for body in server.asked] == [True, False, False]
    assert [turn.kind for turn in run.turns.all()] == ["thought", "action", "final"]
    assert verify(run).verdict is Verdict.AGREES


def test_what_goes_back_to_the_server_is_the_owners_alone(
    asked: Callable[..., Run], bob: User
) -> None:
    said = {"say": "", "calls": [{"tool": "calculator", "inputs": TWO[0], "kept": [{"k": "v"}]}]}
    run = asked([said, {"say": "It is 42."}], policy="native", tools=("calculator",))
    here().work(run.pk)

    run.refresh_from_db()
    assert run.status == Status.SUCCEEDED
    assert run.turns.get(index=0).kept == [{"id": "call_1", "kept": [{"k": "v"}]}]
    for who, status in ((bob, 404), (run.conversation.owner, 200)):
        client = Client()
        client.force_login(who)
        got = client.get(reverse("transcript_json", args=[run.pk]))
        assert got.status_code == status


def test_a_worker_that_dies_among_three_calls_at_once_repeats_none_that_is_over(
    worker: Stage, asked: Callable[..., Run], wait_for: Callable[..., None]
) -> None:
    looks = [{"tool": "slow__look", "inputs": {"seconds": seconds}} for seconds in (60, 0, 61)]
    script = [{"say": "", "calls": looks}, {"say": "All seen."}]
    before = worker.looks()
    run = asked(script, policy="native", tools=("slow__*",))
    open_turn = Turn.objects.filter(run=run, stored_actions__observation="looked 0")
    wait_for(lambda: len(worker.looks()) - len(before) == 3, "three calls at once", seconds=40)
    wait_for(open_turn.exists, "the short one to be stored", seconds=40)
    worker.kill_worker()
    worker.start_worker()
    wait_for(lambda: len(worker.looks()) - len(before) == 5, "the two long ones", seconds=60)
    stop(run)
    wait_for(lambda: Run.objects.filter(pk=run.pk, ended_at=None).count() == 0, "the end")

    run.refresh_from_db()
    assert sorted(worker.looks()[len(before) :]) == ["0.0", "60.0", "60.0", "61.0", "61.0"]
    assert (run.status, run.attempt) == (RunStatus.STOPPED, 2)
    (turn,) = run.turns.all()
    told = [(action.observation, action.error) for action in turn.actions]
    assert told == [("", "Interrupted"), ("looked 0", ""), ("", "Interrupted")]
    assert verify(run).verdict is not Verdict.DIFFERS
