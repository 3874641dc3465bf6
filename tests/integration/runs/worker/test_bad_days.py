"""Whatever happens to a model, the run ends with an honest status, a reason and words."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.db import connection

from agents.providers.choice import ModelChoice
from chat.models import ModelCall, PolicyVersion, Run, RunStatus, TurnStatus
from chat.operations.verify import Verdict
from tests.integration.here import here
from tests.integration.runs.record.verdicts import verdict

SSE = "text/event-stream"
CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"Thought: hm "}}]}\n\n'
UNSTORABLE = (
    rb'data: {"choices":[{"index":0,"finish_reason":"stop","delta":{"content":'
    rb'"Thought: a\u0000b\nFinal Answer: c\u0000d \ud83d"}}]}'
    b"\n\ndata: [DONE]\n\n"
)
Answer = Callable[[BaseHTTPRequestHandler], None]


def _say(status: int, kind: str, body: bytes) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def _for_ever(handler: BaseHTTPRequestHandler) -> None:
    _say(200, SSE, b"")(handler)
    pause = threading.Event()
    while not pause.wait(0.01):
        handler.wfile.write(CHUNK)


def _silent(handler: BaseHTTPRequestHandler) -> None:
    _say(200, SSE, CHUNK)(handler)
    handler.wfile.flush()
    handler.rfile.read(1)  # nothing comes until the other side is gone


@pytest.fixture
def server() -> Callable[[Answer], Any]:
    """Serve one answer to every request: `with server(answer) as url`."""

    @contextmanager
    def serve(answer: Answer) -> Iterator[str]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    answer(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
            httpd.daemon_threads = True
            thread = threading.Thread(target=httpd.serve_forever)
            thread.start()
            yield f"http://127.0.0.1:{httpd.server_port}/v1"
            httpd.shutdown()
            thread.join()

    return serve


def _of(url: str) -> ModelChoice:
    return ModelChoice(provider="openai", model="m", base_url=url)


@pytest.mark.parametrize(
    ("answer", "limits", "ended"),
    [
        (_say(500, "text/plain", b"boom"), {"seconds": 20}, ("failed", "provider")),
        (_say(200, "text/html", b"<html>hi</html>"), {}, ("failed", "provider")),
        (_say(200, SSE, b"\x00\xff garbage\n\n"), {}, ("failed", "provider")),
        (_say(200, SSE, CHUNK), {}, ("failed", "provider")),
        (_silent, {"idle_seconds": 1}, ("failed", "provider")),
        (_for_ever, {"seconds": 2}, ("exhausted", "time")),
    ],
    ids=["500", "html", "garbage", "cut", "silent", "never stops"],
)
def test_a_bad_model_ends_the_run_in_words(
    asked: Callable[..., Run],
    server: Callable[[Answer], Any],
    answer: Answer,
    limits: dict[str, Any],
    ended: tuple[str, str],
) -> None:
    with server(answer) as url:
        run = asked([], model=_of(url), limits=limits)
        here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == ended
    assert run.message
    assert "Traceback" not in run.message
    assert run.lease_until is None
    assert not run.turns.filter(status=TurnStatus.OPEN).exists()
    assert ModelCall.objects.filter(run=run).exclude(error="").exists()


def test_a_model_that_is_down_ends_the_run_in_words(asked: Callable[..., Run]) -> None:
    run = asked([], model=_of("http://127.0.0.1:9/v1"))
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "provider")
    assert "127.0.0.1:9" in run.message


def test_a_reply_that_is_cut_off_is_kept(asked: Callable[..., Run]) -> None:
    run = asked([{"fail": "truncated", "after": "Thought: I was about to say "}])
    here().work(run.pk)

    run.refresh_from_db()
    (turn,) = run.turns.all()
    assert (run.status, turn.status) == (RunStatus.FAILED, TurnStatus.INTERRUPTED)
    assert "I was about to say" in turn.thought


def test_a_reply_that_broke_off_is_asked_for_again_and_the_record_is_whole(
    asked: Callable[..., Run], server: Callable[[Answer], Any]
) -> None:
    said = b'data: {"choices":[{"finish_reason":"stop","delta":{"content":"Final Answer: 4"}}]}\n\n'
    answers = iter((_say(200, SSE, CHUNK), _say(200, SSE, CHUNK), _say(200, SSE, said)))

    with server(lambda handler: next(answers)(handler)) as url:
        run = asked([], model=_of(url))
        here().work(run.pk)

    run.refresh_from_db()
    (turn,) = run.turns.all()
    assert (run.status, run.answer, run.attempt) == (RunStatus.SUCCEEDED, "4", 1)
    assert (turn.status, turn.thought) == (TurnStatus.COMPLETE, "")
    calls = run.model_calls.order_by("index")
    assert [(call.turn_index, bool(call.error)) for call in calls] == [
        (0, True),
        (0, True),
        (0, False),
    ]
    assert verdict(run) == (Verdict.AGREES, "")


def test_a_policy_that_cannot_be_met_ends_the_run_in_words(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": "hm"}], tools=("no_such_tool",))
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "configuration")
    assert "no_such_tool" in run.message


def test_a_policy_of_another_release_ends_the_run_in_words(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": "hm"}])
    PolicyVersion.objects.filter(pk=run.policy_version_id).update(content={"shape": "unknown"})
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason) == (RunStatus.FAILED, "configuration")


def test_text_that_cannot_be_stored_is_replaced_visibly(
    asked: Callable[..., Run], server: Callable[[Answer], Any]
) -> None:
    with server(_say(200, SSE, UNSTORABLE)) as url:
        run = asked([], model=_of(url))
        here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "c\ufffdd \ufffd")
    assert "\ufffd" in next(ModelCall.objects.with_requests(run)).reply


def test_a_run_out_of_turns_is_not_called_a_success(asked: Callable[..., Run]) -> None:
    action = {"say": 'Thought: t\nAction: calculator\nAction Input: {"expression": "1"}'}
    run = asked(
        [action, {"say": "As far as I got."}], tools=("calculator",), limits={"max_turns": 1}
    )
    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.reason, run.partial) == (RunStatus.EXHAUSTED, "turns", True)
    assert run.answer == "As far as I got."
    assert run.model_calls.latest("index").turn_index == 1


def test_a_run_that_cannot_even_be_read_ends_and_is_not_tried_for_ever(
    asked: Callable[..., Run],
) -> None:
    run = asked([{"say": "Final Answer: 4"}])
    rename("thought", "thought_of_another_release")
    try:
        here().work(run.pk)
    finally:
        rename("thought_of_another_release", "thought")

    run.refresh_from_db()
    # It ends under an attempt of its own, so that nobody writes into it any more.
    assert (run.status, run.reason, run.attempt) == (RunStatus.FAILED, "internal", 2)
    assert run.message


def rename(before: str, after: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE chat_turn RENAME COLUMN {before} TO {after}")
