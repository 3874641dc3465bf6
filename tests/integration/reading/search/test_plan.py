"""That Postgres takes the paths that were measured, where left alone it would guess wrong."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.postgres.search import SearchVector
from django.db import connection
from django.db.models import Value
from django.test.utils import CaptureQueriesContext

from chat.governance.door import space_documents
from chat.models import Run, TurnDocument, User
from chat.search.find import find
from chat.search.language.query import parse
from chat.search.limits import TooSlow, within
from chat.search.place import NEWEST_FIRST, places
from chat.search.recall import find_turns
from chat.search.tally import tally

TURNS = 20_000

GENERATED_TURNS = """
    INSERT INTO chat_turn
        (run_id, index, attempt, status, kind, thought, answer, stream_id, started_at, ended_at)
    SELECT %s, n, 1, 'complete', 'thought', '', '', '0-0', now(), now()
    FROM generate_series(1, %s) AS n
"""
GENERATED_DOCUMENTS = """
    INSERT INTO chat_turndocument
        (turn_id, space_id, run_id, kind, at, tool, has_error, is_cut, words)
    SELECT id, CASE WHEN index %% 10 = 0 THEN %s ELSE %s END, run_id, 'chat', now(),
        CASE WHEN index %% 2 = 0 THEN 'calculator' ELSE '' END, false, false,
        to_tsvector('simple', concat_ws(' ', 'common', 'word' || index %% 5000,
            CASE WHEN index IN (7, 15000) THEN 'rare' END,
            CASE WHEN index <= 10000 THEN 'older' END))
    FROM chat_turn
"""

GENERATED_RUN_DOCUMENTS = """
    INSERT INTO chat_rundocument
        (run_id, space_id, kind, policy, version, model, status, reason, has_error, at, words)
    SELECT id, owner_id, 'chat', 'explicit', 1, '', status, '', status = 'failed', created_at, ''
    FROM chat_run WHERE id = ANY(%s)
"""
TURNS_OF_RUNS = """
    INSERT INTO chat_turn
        (run_id, index, attempt, status, kind, thought, answer, stream_id, started_at, ended_at)
    SELECT run, n, 1, 'complete', 'thought', '', '', '0-0', now(), now()
    FROM unnest(%s::bigint[]) AS run, generate_series(0, 9) AS n
"""
DOCUMENTS_OF_RUNS = """
    INSERT INTO chat_turndocument
        (turn_id, space_id, run_id, kind, at, tool, has_error, is_cut, words)
    SELECT chat_turn.id, run.space_id, run.run_id, run.kind, at, '', false, false,
        to_tsvector('common')
    FROM chat_turn JOIN chat_rundocument AS run ON run.run_id = chat_turn.run_id
    WHERE run.run_id = ANY(%s)
"""


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for plans alone: a machine with other work may take long to carry them out."""
    for module in ("find", "tally"):
        monkeypatch.setattr(f"chat.search.{module}.QUICK_SECONDS", 60.0)


@pytest.fixture
def many_turns(ada: User, bob: User, tell: Callable[..., Run]) -> None:
    """Generate turns, one in ten Ada's; two hold the word `rare`, the first half `older`."""
    run = tell(bob)
    with connection.cursor() as cursor:
        cursor.execute(GENERATED_TURNS, [run.pk, TURNS])
        cursor.execute(GENERATED_DOCUMENTS, [ada.pk, bob.pk])
        # Now, for a search leaves its time limit to the rest of the transaction around it.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # What waits to be merged into the index would make the planner shy of it.
        cursor.execute("SELECT gin_clean_pending_list('turn_space_words')")
        cursor.execute("ANALYZE chat_turndocument")


@pytest.fixture
def many_runs(bob: User, tell: Callable[..., Run]) -> None:
    """Generate runs of ten turns that hold the word `common`; every five hundredth failed."""
    like = tell(bob)
    runs = Run.objects.bulk_create(
        Run(
            conversation=like.conversation,
            policy_version=like.policy_version,
            client_message_id=uuid.uuid4(),
            question="",
            status="failed" if n % 500 == 0 else "succeeded",
            created_at=like.created_at + timedelta(seconds=n),
            ended_at=like.ended_at,
        )
        for n in range(2_000)
    )
    with connection.cursor() as cursor:
        for statement in (GENERATED_RUN_DOCUMENTS, TURNS_OF_RUNS, DOCUMENTS_OF_RUNS):
            cursor.execute(statement, [[run.pk for run in runs]])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SELECT gin_clean_pending_list('turn_space_words')")
        cursor.execute("ANALYZE chat_turndocument, chat_rundocument")


def plans_of(act: Callable[[], Any], holding: str = "tsquery") -> list[str]:
    """Return how Postgres would carry out each query of `act` that holds a word, in order."""
    with CaptureQueriesContext(connection) as queries:
        act()
    plans = []
    with within(60), connection.cursor() as cursor:
        for sql in (query["sql"].replace("%", "%%") for query in queries):
            if "set_config" in sql:
                cursor.execute(sql)
            elif holding in sql:
                cursor.execute("EXPLAIN " + sql)
                plans.append("\n".join(row[0] for row in cursor.fetchall()))
    return plans


def test_a_rare_word_is_looked_up_in_the_index_over_words(rita: User, many_turns: None) -> None:
    *_, last = plans_of(lambda: find(rita, parse("rare")))

    assert "Bitmap Index Scan on turn_space_words" in last
    assert len(find(rita, parse("rare")).turn_ids) == 2


def test_a_common_word_that_no_new_turn_holds_does_not_read_the_table(
    rita: User, many_turns: None
) -> None:
    _, last = plans_of(lambda: find(rita, parse("older")))

    assert "Bitmap Index Scan on turn_space_words" in last


def test_a_common_word_is_found_among_the_newest_turns(rita: User, many_turns: None) -> None:
    plans = plans_of(lambda: find(rita, parse("common")))

    assert len(plans) == 1
    assert "Index Scan Backward" in plans[0]
    assert "turn_space_words" not in plans[0]


def test_a_members_word_is_looked_up_together_with_the_owner(ada: User, many_turns: None) -> None:
    *_, last = plans_of(lambda: find(ada, parse("word10")))

    scan, condition = last[last.index("Bitmap Index Scan") :].splitlines()[:2]
    assert "turn_space_words" in scan
    assert "space_id" in condition
    assert "words @@" in condition


def test_a_field_goes_straight_to_the_index_over_words(rita: User, many_turns: None) -> None:
    plans = plans_of(lambda: find(rita, parse("word10 tool:calculator")))

    assert len(plans) == 1
    assert "Bitmap Index Scan on turn_space_words" in plans[0]


@pytest.mark.parametrize(
    "text",
    [
        "-common",
        "-word10",
        "-common -word10",
        '-"common word10"',
        "the",
        '"to be or not to be"',
        "the -common",
        "policy:explicit -common",
        "tool:calculator -common",
        "-tool:calculator -common",
        "user:ada -common",
        "run:1 -common",
        " ".join(f'-"w{n} common"' for n in range(32)),
        '"' + "a " * 499 + '"',
    ],
)
@pytest.mark.parametrize("is_reviewer", [False, True])
def test_what_the_index_over_words_has_nothing_to_look_up_for_never_asks_it(
    ada: User, rita: User, many_turns: None, text: str, is_reviewer: bool
) -> None:
    user, query = rita if is_reviewer else ada, parse(text)
    middle = places(TurnDocument.objects.filter(turn__index=9_000))[0]

    def search() -> None:
        find(user, query)
        find(user, query, before=middle)
        find(user, query, after=middle)
        tally(user, query)

    plans = plans_of(search)

    assert len(plans) >= 4
    assert not any("turn_space_words" in plan or "Seq Scan" in plan for plan in plans)


def test_the_agents_own_search_does_not_walk_the_index_for_words_left_out(
    ada: User, many_turns: None
) -> None:
    plans = plans_of(lambda: find_turns(ada)("-common"))

    assert plans
    assert not any("turn_space_words" in plan for plan in plans)


@pytest.mark.parametrize("text", ["status:failed", "status:failed common"])
def test_what_few_runs_are_is_looked_up_among_the_runs(
    rita: User, many_runs: None, text: str
) -> None:
    *_, last = plans_of(lambda: find(rita, parse(text)), "chat_rundocument")

    assert len(find(rita, parse(text)).turn_ids) == 25
    assert "run_status_newest" in last
    assert "Seq Scan" not in last
    counted = tally(rita, parse(text))
    assert counted is not None
    assert counted.counts["status"] == [("failed", 40)]


def test_what_a_common_policy_narrows_is_found_among_the_newest_turns(
    rita: User, many_runs: None
) -> None:
    plans = plans_of(lambda: find(rita, parse("policy:explicit common")))

    assert len(plans) == 1
    assert "turn_newest" in plans[0]
    assert "turn_space_words" not in plans[0]


def test_so_many_turns_are_looked_through_for_words_left_out_and_the_next_page_goes_on(
    rita: User, bob: User, tell: Callable[..., Run], many_turns: None, monkeypatch: Any
) -> None:
    monkeypatch.setattr("chat.search.find.WALKED", 3_000)
    oldest, newest = TurnDocument.objects.order_by("pk")[0].pk, tell(bob, {"thought": "alone"})
    TurnDocument.objects.filter(pk=oldest).update(words=SearchVector(Value("lonely")))
    query = parse("-common")

    pages = [find(rita, query)]
    while pages[-1].older is not None:
        pages.append(find(rita, query, before=pages[-1].older))
    back = [pages[-1]]
    while back[-1].newer is not None:
        back.append(find(rita, query, after=back[-1].newer))
    counted = tally(rita, query)

    assert [pk for page in pages for pk in page.turn_ids] == [newest.turns.get().pk, oldest]
    assert [page.walked for page in pages] == [3_000] * 6 + [None]
    assert sorted({pk for page in back for pk in page.turn_ids}) == [oldest, newest.turns.get().pk]
    assert counted is not None
    assert (counted.total, counted.is_all) == (1, False)


def test_a_search_leaves_nothing_of_its_limits_to_what_comes_after_it(
    rita: User, many_turns: None
) -> None:
    find(rita, parse("-common"))

    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('enable_bitmapscan'), current_setting('jit')")
        assert cursor.fetchone()[0] == "on"
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_the_newest_turns_of_a_member_are_read_in_order(ada: User, many_turns: None) -> None:
    with within(60):
        plan = space_documents(ada.pk).order_by(*NEWEST_FIRST)[:25].explain()

    assert "Sort" not in plan
    assert "Scan Backward" in plan


def test_an_english_word_is_a_constant_to_the_planner(rita: User, many_turns: None) -> None:
    match = parse("running").match()

    plan = TurnDocument.objects.filter(words=match).explain()

    assert "'run'" in plan
    assert "plainto_tsquery" not in plan


def test_counting_stops_at_the_cap(rita: User, many_turns: None) -> None:
    counted = tally(rita, parse("common"))

    assert counted is not None
    assert (counted.total, counted.is_all) == (10_000, False)


def test_a_search_that_takes_too_long_is_given_up(rita: User, tell: Callable[..., Run]) -> None:
    with pytest.raises(TooSlow), within(0.05), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(20)")
