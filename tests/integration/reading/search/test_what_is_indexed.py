"""What of a turn is written for search, and when."""

import base64
import os
from collections.abc import Callable
from io import StringIO

import pytest
from django.contrib.postgres.search import SearchVector
from django.core.management import call_command
from django.db.models import Value

from chat.models import Run, TurnDocument, User
from chat.search.documents.runs import index_run_ended
from chat.search.find import find
from chat.search.language.query import parse
from tests.integration.reading.search.found import EVERYTHING, found

TellRun = Callable[..., Run]


def test_a_live_run_is_found_by_what_it_does_now(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "hm"}, status="running")
    Run.objects.filter(pk=run.pk).update(status="interrupted", lease_until=None)

    assert found(ada, "status:interrupted") == [run.pk]
    assert found(ada, "status:running") == []


def test_what_only_the_run_says_is_found_at_its_last_turn(ada: User, tell: TellRun) -> None:
    run = tell(ada, {}, {}, status="exhausted", answer="A best guess.", message="Out of turns.")

    page = find(ada, parse('"best guess" "out of turns"'))

    assert list(page.turn_ids) == [run.turns.get(index=1).pk]


def test_a_turn_that_was_never_indexed_is_once_its_run_has_ended(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "forgotten"}, status="failed")
    TurnDocument.objects.all().delete()

    index_run_ended(run)

    assert found(ada, "forgotten status:failed") == [run.pk]


@pytest.mark.parametrize(
    "huge",
    [
        pytest.param(base64.b64encode(os.urandom(5_000_000)).decode(), id="5 MB of base64"),
        pytest.param(" ".join(f"{n:x}" for n in range(300_000)), id="300,000 different words"),
        pytest.param("".join(map(chr, range(0x20000, 0x30000))) * 4, id="rare characters"),
        pytest.param(
            " ".join("\ufdf2" * 8 + chr(0x10400 + n % 80) + f"{n:x}" for n in range(20_000)),
            id="different words that grow when folded",
        ),
        pytest.param("\ufdfa" * 300_000, id="ligatures of 18 letters"),
        pytest.param("x" * 5_000_000, id="one word of 5 MB"),
    ],
)
def test_a_huge_observation_does_not_lose_the_turn(ada: User, tell: TellRun, huge: str) -> None:
    run = tell(ada, {"thought": "The needle.", "observation": huge})

    assert found(ada, "needle") == [run.pk]
    assert TurnDocument.objects.get(run_document=run.pk).is_cut


def test_huge_inputs_do_not_crowd_out_the_thought(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "needle", "tool": "f", "inputs": {"code": "x y " * 500_000}})

    assert found(ada, "needle") == [run.pk]


def test_a_turn_of_ordinary_length_is_not_cut(ada: User, tell: TellRun) -> None:
    run = tell(ada, EVERYTHING)

    assert not TurnDocument.objects.get(run_document=run.pk).is_cut


def test_every_turn_can_be_indexed_anew(ada: User, tell: TellRun) -> None:
    ended = tell(ada, {"thought": "alpha"}, {"thought": "alpha"}, message="omega")
    live = tell(ada, {"thought": "alpha"}, status="running")
    is_open = {"thought": "alpha", "status": "open", "ended_at": None}
    waiting = tell(ada, is_open, status="waiting")
    TurnDocument.objects.filter(run_document__in=[live.pk, waiting.pk]).delete()
    TurnDocument.objects.update(words=SearchVector(Value("stale")))
    said = StringIO()

    call_command("index_turns", stdout=said)

    assert said.getvalue() == "4 turns can be found.\n"
    assert found(ada, "alpha") == [ended.pk, ended.pk, live.pk, waiting.pk]
    assert found(ada, "status:waiting") == [waiting.pk]
    assert found(ada, "omega") == [ended.pk]
    assert found(ada, "stale") == []
