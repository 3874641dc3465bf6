import base64
import os
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.postgres.search import SearchVector
from django.core.management import call_command
from django.db.models import Value
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import Run, TurnDocument, User
from chat.search.documents.runs import index_run_ended
from chat.search.find import PAGE_LENGTH, FoundPage, find
from chat.search.language.fields import QueryError
from chat.search.language.query import parse
from chat.search.place import Place
from chat.search.tally import tally

TellRun = Callable[..., Run]


def found(user: User, text: str) -> list[int]:
    """Return the runs of the turns that fit, oldest first."""
    page = find(user, parse(text))
    turns = TurnDocument.objects.filter(pk__in=page.turn_ids).order_by("pk")
    return list(turns.values_list("run_document", flat=True))


EVERYTHING = {
    "thought": "The requests were timing out; I'm running it twice.",
    "plan": {"goals": ["Find the lighthouse."]},
    "tool": "python_repl",
    "inputs": {"code": "import foo_bar\nfoo_bar.baz(3.14)", "nested": [{"deep_key": "treasure"}]},
    "observation": "See https://example.com/a/b?x=1 for C++ and 東京の人口 مرحبا 🚀 don't",
}


@pytest.mark.parametrize(
    "text",
    [
        "request",
        "times",
        "runs timing",
        '"timing out"',
        "THE",
        "foo_bar.baz(3.14)",
        "baz",
        "deep_key",
        "lighthouse",
        "treasure",
        "https://example.com/a/b?x=1",
        "example.com",
        "C++",
        "3.14",
        "東京",
        "人口",
        "مرحبا",
        "🚀",
        "don't",
        "python_repl",
        "why",
        "sixteen",
        "request -timeout",
        'treasure -"out timing"',
        "-nothing",
        "tool:python_repl",
        "tool:python_repl tool:calculator",
        "policy:explicit -policy:implicit treasure",
        "-tool:calculator",
        "status:answered",
        "status:succeeded",
        "-status:failed",
        "user:ada",
        "",
    ],
)
def test_a_turn_is_found(ada: User, tell: TellRun, text: str) -> None:
    run = tell(ada, EVERYTHING, question="Why does it fail?", answer="Sixteen.")
    tell(ada, {"tool": "calculator", "inputs": {}}, policy="implicit", status="failed")

    assert run.pk in found(ada, text)


@pytest.mark.parametrize(
    "text",
    [
        "absent",
        "request absent",
        '"out timing"',
        '"time out"',
        "-request",
        '-"timing out"',
        "subtreasure",
        "treas",
        "baz.foo_bar",
        "C#",
        "口人",
        "tool:calculator",
        "-tool:python_repl",
        "status:failed",
        "status:running",
        "policy:implicit",
        "-user:ada",
        '"twice python_repl"',
    ],
)
def test_a_turn_that_does_not_fit_is_not_found(ada: User, tell: TellRun, text: str) -> None:
    run = tell(ada, EVERYTHING, question="Why does it fail?", answer="Sixteen.")
    tell(ada, {"tool": "calculator", "inputs": {}}, policy="implicit", status="failed")

    assert run.pk not in found(ada, text)


ACCENTED = "Ünïcödé in São Paulo at 2026-11-22T18:00:00Z, 2026-11-23 and x2026-11-24t"


@pytest.mark.parametrize(
    "text",
    [
        "unicode",
        "ÜNÏCÖDÉ",
        '"sao paulo"',
        "São-Paulo",
        "2026-11-22",
        '"at 2026-11-22"',
        "2026-11-22T18:00",
        "2026-11-23",
        "-2026-11-25",
    ],
)
def test_what_is_written_a_little_differently_is_found(ada: User, tell: TellRun, text: str) -> None:
    run = tell(ada, {"thought": ACCENTED})

    assert found(ada, text) == [run.pk]


@pytest.mark.parametrize(
    "text",
    ["unicodes-x", "-unicode", "-ünïcödé", "-2026-11-22", "2026-11-2", "026-11-22", "2026-11-24"],
)
def test_what_is_written_otherwise_is_not_found(ada: User, tell: TellRun, text: str) -> None:
    tell(ada, {"thought": ACCENTED})

    assert found(ada, text) == []


def test_what_was_indexed_with_its_accents_is_found_with_them(ada: User, tell: TellRun) -> None:
    run = tell(ada, {})
    TurnDocument.objects.update(words=SearchVector(Value("ünïcödé são paulo"), config="simple"))

    assert found(ada, "Ünïcödé") == [run.pk]
    assert found(ada, '"são paulo"') == [run.pk]
    assert found(ada, "-ünïcödé") == []


def test_one_run_is_found_by_its_number(ada: User, tell: TellRun) -> None:
    tell(ada, {})
    run = tell(ada, {}, {})

    assert found(ada, f"run:{run.pk}") == [run.pk, run.pk]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tool:pyhton", "tool:pyhton: there is no tool 'pyhton'. The tools are: "),
        ("tool:pyhton", "calculator"),
        ("policy:best", "policy:best: there is no policy 'best'. The policies are: "),
        ("policy:best", "explicit"),
        ("status:done", "status:done: there is no status 'done'. A run is: queued, running"),
        ("user:bob", "user:bob: you can search your own turns only."),
        ("user:nobody", "user:nobody: you can search your own turns only."),
        ("run:x", "run:x: a run is named by its number"),
        ("run:99999999999999999999", "a run is named by its number"),
    ],
)
def test_a_value_that_there_is_not_is_named(
    ada: User, bob: User, tell: TellRun, text: str, message: str
) -> None:
    tell(ada, {})

    with pytest.raises(QueryError) as raised:
        find(ada, parse(text))

    assert message in str(raised.value)


def test_a_reviewer_is_told_which_users_there_are(ada: User, rita: User) -> None:
    with pytest.raises(QueryError, match="There are: ada, rita"):
        find(rita, parse("user:nobody"))


def test_a_tool_that_only_a_model_imagined_is_found_by_its_name(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"tool": "teleport", "inputs": {}, "error": "ToolNotFound"})

    assert found(ada, "tool:teleport") == [run.pk]


def test_a_tool_that_only_others_used_is_not_named(ada: User, bob: User, tell: TellRun) -> None:
    tell(bob, {"tool": "bobs_secret", "inputs": {}})

    with pytest.raises(QueryError, match="there is no tool 'bobs_secret'"):
        find(ada, parse("tool:bobs_secret"))


def test_a_live_run_is_found_by_what_it_does_now(ada: User, tell: TellRun) -> None:
    run = tell(ada, {"thought": "hm"}, status="running")
    Run.objects.filter(pk=run.pk).update(status="interrupted", lease_until=None)

    assert found(ada, "status:interrupted") == [run.pk]
    assert found(ada, "status:running") == []


def test_a_member_finds_only_their_own_turns(ada: User, bob: User, tell: TellRun) -> None:
    mine = tell(ada, {"thought": "shared word"})
    tell(bob, {"thought": "shared word"})

    assert found(ada, "shared") == [mine.pk]
    assert found(ada, "") == [mine.pk]


def test_a_reviewer_finds_everyones_turns(ada: User, bob: User, rita: User, tell: TellRun) -> None:
    runs = [tell(owner, {"thought": "shared word"}).pk for owner in (ada, bob)]

    assert found(rita, "shared") == runs
    assert found(rita, "shared user:bob") == runs[1:]
    assert found(rita, "shared -user:bob") == runs[:1]
    assert found(rita, "shared user:bob user:ada") == runs


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


def test_paging_shows_every_turn_once_in_both_directions(ada: User, tell: TellRun) -> None:
    for _ in range(12):
        tell(ada, *[{"thought": "common"}] * 6)
    everything = list(TurnDocument.objects.order_by("-pk").values_list("pk", flat=True))

    for text in ("common", "common policy:explicit", "", "-absent"):
        forwards = [find(ada, parse(text))]
        while forwards[-1].older is not None:
            forwards.append(find(ada, parse(text), before=forwards[-1].older))
        back = [forwards[-1]]
        while back[-1].newer is not None:
            back.append(find(ada, parse(text), after=back[-1].newer))

        assert [i for page in forwards for i in page.turn_ids] == everything
        assert sorted({i for page in back for i in page.turn_ids}, reverse=True) == everything
        assert back[-1].turn_ids == forwards[0].turn_ids


def test_paging_past_the_end_is_an_empty_page(ada: User, tell: TellRun) -> None:
    tell(ada, {})

    now = timezone.now()
    assert find(ada, parse(""), before=Place(now - timedelta(days=1), 1)) == FoundPage([])
    assert len(find(ada, parse(""), after=Place(now + timedelta(days=1), 1)).turn_ids) == 1


def test_one_full_page_has_no_other_beside_it(ada: User, tell: TellRun) -> None:
    tell(ada, *[{"thought": "common"}] * PAGE_LENGTH)

    page = find(ada, parse("common"))

    assert (len(page.turn_ids), page.newer, page.older) == (PAGE_LENGTH, None, None)


def test_what_fits_is_counted_by_field(ada: User, bob: User, tell: TellRun) -> None:
    tell(ada, {"thought": "common", "tool": "f", "inputs": {}}, {"thought": "common"})
    tell(ada, {"thought": "common"}, policy="implicit", status="failed")
    tell(bob, {"thought": "common"})

    counted = tally(ada, parse("common"))

    assert counted is not None
    assert (counted.total, counted.is_all) == (3, True)
    assert counted.counts == {
        "policy": [("explicit", 2), ("implicit", 1)],
        "tool": [("f", 1)],
        "status": [("succeeded", 2), ("failed", 1)],
    }


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(max_size=80) | st.text(alphabet="ab:\"- \\&|!()*<>'%_toluser", max_size=40))
def test_no_text_breaks_the_search(rita: User, text: str) -> None:
    try:
        query = parse(text)
        page: Any = find(rita, query)
        counted: Any = tally(rita, query)
    except QueryError:
        return

    assert (page, counted.total) == (FoundPage([]), 0)


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
