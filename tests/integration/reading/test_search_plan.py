"""That Postgres takes the paths that were measured, where left alone it would guess wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.models import Run, SearchDocument, User
from chat.transcripts import search
from chat.transcripts.query import parse
from chat.transcripts.scope import own
from chat.transcripts.search import find, tally, within

TURNS = 20_000

GENERATED_TURNS = """
    INSERT INTO chat_turn
        (run_id, index, attempt, status, kind, thought, answer, tool, observation_error,
         stream_id, started_at, ended_at)
    SELECT %s, n, 1, 'complete', 'thought', '', '', '', '', '0-0', now(), now()
    FROM generate_series(1, %s) AS n
"""
GENERATED_DOCUMENTS = """
    INSERT INTO chat_searchdocument
        (turn_id, owner_id, run_id, policy, tool, status, is_cut, words)
    SELECT id, CASE WHEN index %% 10 = 0 THEN %s ELSE %s END, run_id, 'explicit',
        CASE WHEN index %% 2 = 0 THEN 'calculator' ELSE '' END, 'succeeded', false,
        to_tsvector('simple', concat_ws(' ', 'common', 'word' || index %% 5000,
            CASE WHEN index IN (7, 15000) THEN 'rare' END,
            CASE WHEN index <= 10000 THEN 'older' END))
    FROM chat_turn
"""


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
        cursor.execute("SELECT gin_clean_pending_list('search_owner_words')")
        cursor.execute("ANALYZE chat_searchdocument")


def plans_of(act: Callable[[], Any]) -> list[str]:
    """Return how Postgres would carry out each search that `act` makes, in order."""
    with CaptureQueriesContext(connection) as queries:
        act()
    asked = [q["sql"] for q in queries if "tsquery" in q["sql"]]
    with within(60), connection.cursor() as cursor:
        plans = []
        for sql in asked:
            cursor.execute("EXPLAIN " + sql.replace("%", "%%"))
            plans.append("\n".join(row[0] for row in cursor.fetchall()))
    return plans


def test_a_rare_word_is_looked_up_in_the_index_over_words(rita: User, many_turns: None) -> None:
    *_, last = plans_of(lambda: find(rita, parse("rare")))

    assert "Bitmap Index Scan on search_owner_words" in last
    assert len(find(rita, parse("rare")).turn_ids) == 2


def test_a_common_word_that_no_new_turn_holds_does_not_read_the_table(
    rita: User, many_turns: None
) -> None:
    _, last = plans_of(lambda: find(rita, parse("older")))

    assert "Bitmap Index Scan on search_owner_words" in last


def test_a_common_word_is_found_among_the_newest_turns(rita: User, many_turns: None) -> None:
    plans = plans_of(lambda: find(rita, parse("common")))

    assert len(plans) == 1
    assert "Index Scan Backward" in plans[0]
    assert "search_owner_words" not in plans[0]


def test_a_members_word_is_looked_up_together_with_the_owner(ada: User, many_turns: None) -> None:
    *_, last = plans_of(lambda: find(ada, parse("word10")))

    scan, condition = last[last.index("Bitmap Index Scan") :].splitlines()[:2]
    assert "search_owner_words" in scan
    assert "owner_id" in condition
    assert "words @@" in condition


def test_a_field_goes_straight_to_the_index_over_words(rita: User, many_turns: None) -> None:
    plans = plans_of(lambda: find(rita, parse("word10 tool:calculator")))

    assert len(plans) == 1
    assert "Bitmap Index Scan on search_owner_words" in plans[0]


def test_the_newest_turns_of_a_member_are_read_in_order(ada: User, many_turns: None) -> None:
    with within(60):
        plan = own(ada).order_by("-turn_id")[:25].explain()

    assert "Sort" not in plan
    assert "Scan Backward" in plan


def test_an_english_word_is_a_constant_to_the_planner(rita: User, many_turns: None) -> None:
    match = parse("running").match()

    plan = SearchDocument.objects.filter(words=match).explain()

    assert "'run'" in plan
    assert "plainto_tsquery" not in plan


def test_counting_stops_at_the_cap(rita: User, many_turns: None) -> None:
    counted = tally(rita, parse("common"))

    assert counted is not None
    assert (counted.total, counted.is_all) == (10_000, False)


def test_a_search_that_takes_too_long_is_given_up(rita: User, tell: Callable[..., Run]) -> None:
    with pytest.raises(search.TooSlow), within(0.05), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(20)")
