"""The transcript of a run: every turn, every model call, exactly."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import ModelCall, Piece, Run, User
from chat.request import digest_of, piece_digest
from tests.integration.reading.answers import text_of
from tests.integration.reading.stored_calls import request_of, stored_call

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


@pytest.fixture
def run(ada: User, tell: TellRun) -> Run:
    """Store a run of three turns, the second of which failed, with a call each."""
    run = tell(
        ada,
        {
            "thought": "First I look.",
            "tool": "search_transcripts",
            "inputs": {"query": "tides"},
            "observation": "Nothing.",
        },
        {
            "thought": "Then I err.",
            "tool": "calculater",
            "inputs": {"expression": "1 +"},
            "observation": "There is no such tool.",
            "error": "ToolNotFound",
        },
        {"kind": "final", "thought": "I know it.", "answer": "High tide is at *noon*."},
        question="When is high tide?",
        answer="High tide is at *noon*.",
        model="test-model",
        provider="openai",
    )
    stored_call(
        run,
        0,
        request_of("a"),
        reply="r0",
        input_tokens=1000,
        output_tokens=204,
        cached_tokens=900,
        reasoning_tokens=150,
    )
    stored_call(run, 1, request_of("a", "b"), reply="", error="The server hung up.")
    stored_call(run, 2, request_of("a", "b", "c"), reply="r2", reasoning="Let me see.")
    return run


def test_every_turn_is_there_with_its_place(run: Run, ada: User, browse: Browse) -> None:
    page = browse(ada).get(f"/runs/{run.pk}/").content.decode()

    for turn in run.turns.all():
        assert f'id="run-{run.pk}-turn-{turn.number}"' in page
        assert f'href="#run-{run.pk}-turn-{turn.number}"' in page
        assert turn.thought in page
    for words in ("When is high tide?", "tides", "Nothing.", "No such tool", "test-model"):
        assert words in page
    assert str(run.policy_version) in page
    assert "1,204 tokens" in page


def test_a_reviewer_sees_whose_run_it_is(run: Run, rita: User, ada: User, browse: Browse) -> None:
    page = browse(rita).get(f"/runs/{run.pk}/").content.decode()

    assert "Asked by" in page
    assert 'id="again"' not in page
    assert "Asked by" not in browse(ada).get(f"/runs/{run.pk}/").content.decode()


def test_a_call_shows_its_exact_request_and_reply(run: Run, ada: User, browse: Browse) -> None:
    browser = browse(ada)

    page = browser.get(f"/runs/{run.pk}/calls/3/").content.decode()
    raw = browser.get(f"/runs/{run.pk}/calls/3/request.txt")

    assert raw.content.decode() == request_of("a", "b", "c")
    assert raw.headers["Content-Type"].startswith("text/plain")
    assert "r2" in page
    assert "Let me see." in page
    assert page.count('class="model-call__role">user') == 3


def test_a_failed_call_says_why(run: Run, ada: User, browse: Browse) -> None:
    page = browse(ada).get(f"/runs/{run.pk}/calls/2/").content.decode()

    assert "The server hung up." in page
    assert "Nothing came back." in page


def test_a_request_that_is_not_json_is_shown_as_it_is(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, {"thought": "Hm."})
    stored_call(run, 0, "not json <b>")

    page = browse(ada).get(f"/runs/{run.pk}/calls/1/").content.decode()

    assert "not json &lt;b&gt;" in page


def test_a_call_after_the_last_turn_stands_at_the_end(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, {"thought": "Hm."}, answer="So.", status="exhausted", reason="turns")
    stored_call(run, 0, "{}", turn_index=1, purpose="summarize")

    page = browse(ada).get(f"/runs/{run.pk}/").content.decode()

    assert page.index("Summarize") > page.index('id="answer"')


def test_a_page_holds_a_hundred_turns_and_stays_small(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    big = "a line of output\n" * 1500
    run = tell(ada, *({"thought": f"thought {i}.", "observation": big} for i in range(120)))
    browser = browse(ada)

    first = browser.get(f"/runs/{run.pk}/").content.decode()
    last = browser.get(f"/runs/{run.pk}/?turn=120").content.decode()

    assert len(first) < 1_000_000
    assert "thought 99." in first
    assert "thought 100." not in first
    assert "Turns 101 to 120 of 120" in last
    assert "thought 119." in last


@pytest.mark.parametrize("turn", ["0", "-3", "x", "9" * 50, "121"])
def test_a_strange_turn_number_does_no_harm(run: Run, ada: User, browse: Browse, turn: str) -> None:
    assert browse(ada).get(f"/runs/{run.pk}/?turn={turn}").status_code == 200


def test_the_waterfall_is_of_the_whole_run_and_shows_model_and_tool_apart(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, *[{"tool": "calculator", "inputs": {}, "observation": "4"}] * 130)
    begun, second = timezone.now(), timedelta(seconds=1)
    Run.objects.filter(pk=run.pk).update(started_at=begun, ended_at=begun + 130 * second)
    for turn in run.turns.all():
        turn.started_at = begun + turn.index * second
        turn.ended_at = turn.started_at + second
        turn.save()
        turn.stored_actions.update(started_at=turn.started_at + second / 2, ended_at=turn.ended_at)
    stored_call(run, 120, "{}", turn_index=120, started_at=begun + 120 * second, seconds=0.4)

    page = browse(ada).get(f"/runs/{run.pk}/?turn=121").content.decode()

    row = page.partition('id="outline-121"')[2].partition("</li>")[0]
    assert 'viewBox="0 0 130000 4"' in row
    spans = re.findall(r'span--(\w+)" x="(\d+)" width="(\d+)"', row)
    assert spans == [
        ("turn", "120000", "1000"),
        ("model", "120000", "400"),
        ("tool", "120500", "500"),
    ]


def test_what_stands_beside_the_turns_is_had_for_those_that_came_since(
    run: Run, ada: User, browse: Browse
) -> None:
    rows = browse(ada).get(f"/runs/{run.pk}/rows/?from=2").content.decode()

    assert re.findall(r'id="outline-(\d)"', rows) == ["2", "3"]
    assert re.findall(r'id="run-\d+-turn-(\d)-calls"', rows) == ["2", "3"]
    assert "<html" not in rows


def test_a_run_without_turns_says_so(ada: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, status="failed", reason="provider", message="The server is down.")

    page = browse(ada).get(f"/runs/{run.pk}/").content.decode()

    assert "No turn was stored." in page
    assert "The server is down." in page


def test_the_json_holds_everything(run: Run, ada: User, browse: Browse) -> None:
    answer = browse(ada).get(f"/runs/{run.pk}/transcript.json")

    content = json.loads(text_of(answer))
    assert "attachment" in answer.headers["Content-Disposition"]
    assert [turn["number"] for turn in content["turns"]] == [1, 2, 3]
    assert content["turns"][1]["actions"][0]["error"] == "ToolNotFound"
    assert content["model_calls"][2]["request"]["sha256"] == digest_of(request_of("a", "b", "c"))
    assert content["question"] == run.question


def test_the_markdown_can_be_read_and_not_be_broken_out_of(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(
        ada,
        {"tool": "python_repl", "inputs": {"code": "1"}, "observation": "```\n# Not a heading"},
        question="Why?",
        answer="So.",
    )

    text = text_of(browse(ada).get(f"/runs/{run.pk}/transcript.md"))

    assert "````\n```\n# Not a heading\n````" in text
    assert text.index("Why?") < text.index("python_repl") < text.index("## Answer\n\nSo.")


def test_one_rebuilt_request_is_the_same_as_among_all(run: Run) -> None:
    together = [call.request for call in ModelCall.objects.with_requests(run)]

    assert [ModelCall.objects.with_request(run, i).request for i in range(3)] == together


def test_a_request_of_which_a_piece_was_redacted_says_so(
    ada: User, rita: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, {"thought": "I look."})
    before, secret, after = request_of("my number is 4711").partition("4711")
    digests = [piece_digest(text) for text in (before, secret, after)]
    for digest, text in zip(digests, (before, secret, after), strict=True):
        Piece.objects.create(run=run, digest=UUID(digest), text=text)
    whole = before + secret + after
    stored_call(run, 0, whole, rest="", pieces=digests)
    address = f"/runs/{run.pk}/calls/1/"
    as_sent = browse(ada).get(address).content.decode()

    piece = Piece.objects.get(run=run, text=secret)
    piece.redacted("[redacted]", timezone.now()).save(force_update=True)

    for person in (ada, rita):
        page = browse(person).get(address).content.decode()
        assert "Parts of this request were redacted" in page
        assert "my number is [redacted]" in page
        assert "4711" not in page
    assert "4711" in as_sent
    assert "redacted" not in as_sent


def test_a_call_says_how_many_of_its_tokens_were_cached_and_how_many_thoughts(
    run: Run, ada: User, browse: Browse
) -> None:
    page = browse(ada).get(f"/runs/{run.pk}/calls/1/").content.decode()

    words = " ".join(page.split())
    assert "1,000 in (900 cached), 204 out (150 reasoning)" in words
