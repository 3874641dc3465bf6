"""Measure search on many turns, against the obvious query on the same table, interleaved.

Run as `make bench-search`, or with the number of turns as the argument. The obvious query is the
one that everybody writes first: the words, newest first, LIMIT. Both end at the ids of a page; the
whole page, with its excerpts and counts, has figures of its own; queries with nothing to look up
have only that one, for the obvious query reads the whole table. Milliseconds are medians of five
passes after one to warm up, by the wall clock.
"""

import os
import random
import re
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pydoc_data.topics import topics
from typing import Any

from project.local.throwaway import throwaway

TURNS = 200_000
TURNS_PER_RUN = 10
USERS = 200
PASSES = 5
PATIENCE = "20s"

# A word in one of how many turns.
FREQUENCIES = {"zqrare": 50_000, "zqseldom": 1_000, "zqsome": 100, "zqmany": 10, "zqmost": 2}

FORMS = {
    "field": "zqsome tool:calculator",
    "phrase": '"zqmany zqmost"',
    "absent_phrase": '"zqmost zqmany"',
    "without": "zqmany -zqmost",
    "two_words": "zqseldom zqmost",
}

RUNS = {
    "newest": "",
    "policy_of_half": "policy:explicit",
    "policy_of_1_percent": "policy:rewoo",
    "status_of_1_in_1000": "status:failed",
    "status_of_none": "status:stopped",
    "policy_of_1_percent_and_half": "policy:rewoo zqmost",
    "policy_of_1_percent_and_10_percent": "policy:rewoo zqmany",
    "policy_of_half_and_half": "policy:explicit zqmost",
    "status_and_half": "status:failed zqmost",
    "not_policy": "zqsome -policy:explicit",
    "tool": "tool:calculator",
}

IN_PARTS = {"in_thought": "in:thought zqsome", "in_observation": "in:observation zqsome"}

NOTHING_TO_LOOK_UP = {
    "without_only": "-zqmost",
    "without_the": "-the",
    "without_two": "-zqmost -zqmany",
    "policy_without": "policy:explicit -zqmost",
    "tool_without": "tool:calculator -the",
    "user_without": "user:user0 -zqmost",
    "absent_of_stop_words": '"the the"',
    "without_32_phrases": " ".join(f'-"w{n} zqmost"' for n in range(32)),
    "phrase_of_499_letters": '"' + "a " * 499 + '"',
}

ACTIONS = """
    INSERT INTO chat_action (turn_id, position, tool, inputs, observation, error, ends)
    SELECT id, 0, (ARRAY['calculator', 'python_repl', 'search_transcripts'])[1 + id % 3], '{}', '',
        '', ''
    FROM chat_turn WHERE kind = 'action' ORDER BY id
"""
DOCUMENTS = """
    INSERT INTO chat_turndocument
        (turn_id, space_id, run_id, kind, at, tool, has_error, is_cut, words)
    SELECT turn.id, run.space_id, run.run_id, run.kind, run.at,
        coalesce(tool, ''), false, false, {vector}
    FROM chat_turn AS turn JOIN chat_rundocument AS run ON run.run_id = turn.run_id
    LEFT JOIN chat_action ON chat_action.turn_id = turn.id
    ORDER BY turn.id
"""
BODIES = "ARRAY['', turn.thought, '', '']"
RUN_DOCUMENTS = """
    INSERT INTO chat_rundocument
        (run_id, space_id, kind, policy, version, model, status, reason, has_error, at, words)
    SELECT run.id, owner_id, 'chat', slug, number, model, status, reason, status = 'failed',
        run.created_at, setweight(to_tsvector('simple', question), 'A')
    FROM chat_run AS run
    JOIN chat_policyversion AS version ON version.id = policy_version_id
    JOIN chat_policy AS policy ON policy.id = version.policy_id
"""


def main() -> None:
    """Print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    with throwaway() as environment:
        os.environ |= environment | {"DJANGO_SETTINGS_MODULE": "project.settings"}
        import django  # It reads the settings, which name the throw-away servers only now.

        django.setup()
        member, reviewer = generate(count)
        for who, user in (("reviewer", reviewer), ("member", member)):
            for word in FREQUENCIES:
                measure(f"{who}_{word}", user, word)
        for name, text in FORMS.items():
            measure(f"reviewer_{name}", reviewer, text)
        for name, text in (RUNS | IN_PARTS).items():
            measure_page(f"reviewer_{name}", reviewer, text)
            measure_page(f"member_{name}", member, text)
        for name, text in NOTHING_TO_LOOK_UP.items():
            measure_page(f"reviewer_{name}", reviewer, text)
            measure_page(f"member_{name}", member, text)


def measure(name: str, user: Any, text: str) -> None:
    """Print how long both queries take, and how long the whole page."""
    ours, floor, page = [], [], []
    for _ in range(PASSES + 1):
        ours.append(milliseconds(lambda: ids(user, text)))
        floor.append(milliseconds(lambda: obvious(user, text)))
        page.append(milliseconds(lambda: results(user, text)))
    both = f"{statistics.median(ours[1:]):.1f} ms vs {statistics.median(floor[1:]):.1f} ms obvious"
    print(f"FIGURE search_{name} {both}", flush=True)
    print(f"FIGURE search_{name}_page {statistics.median(page[1:]):.1f} ms", flush=True)


def measure_page(name: str, user: Any, text: str) -> None:
    """Print how long the whole page takes, or until it is given up."""
    took = [milliseconds(lambda: results(user, text)) for _ in range(PASSES + 1)]
    print(f"FIGURE search_{name}_page {statistics.median(took[1:]):.1f} ms", flush=True)


def ids(user: Any, text: str) -> None:
    """Find a page of turns as the product does."""
    from chat.search.find import find
    from chat.search.language.query import parse

    find(user, parse(text))


def results(user: Any, text: str) -> None:
    """Do all that the page of results takes, but for the template."""
    from chat.search.find import find
    from chat.search.hits import hits
    from chat.search.language.query import parse
    from chat.search.limits import TooSlow
    from chat.search.tally import tally

    query = parse(text)
    try:
        shown = hits(find(user, query).turn_ids, query)
    except TooSlow as error:
        print(f"The page of {text[:40]!r} was {error}.", flush=True)
        return
    if shown:
        tally(user, query)


def obvious(user: Any, text: str) -> None:
    """Find a page of turns as everybody writes it first."""
    from django.db import OperationalError, connection, transaction

    from chat.models import TurnDocument
    from chat.search.language.fields import FIELDS
    from chat.search.language.query import parse

    query = parse(text)
    documents = TurnDocument.objects.all()
    if not user.is_reviewer:
        documents = documents.filter(space_id=user.pk)
    for clause in query.fields:
        documents = documents.filter(FIELDS[clause.name].condition(user, clause))
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{PATIENCE}'")
            found = documents.filter(words=query.match()).order_by("-at", "-turn_id")
            list(found.values("pk")[:25])
    except OperationalError:
        print(f"The obvious query for {text!r} was given up after {PATIENCE}.", flush=True)


def milliseconds(act: Callable[[], None]) -> float:
    """Return how long `act` takes."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def generate(count: int) -> tuple[Any, Any]:
    """Fill the database with turns; return its busiest member and a reviewer."""
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from chat.models import Conversation, PolicyVersion, Run, User
    from chat.search.documents.vector import VECTOR

    call_command("migrate", verbosity=0)
    people = User.objects.bulk_create(User(username=f"user{n}") for n in range(USERS))
    reviewer = User.objects.create_superuser("reviewer")
    # The first has every fourth conversation.
    owners = (people[0 if n % 4 == 0 else n % USERS] for n in range(USERS * 2))
    conversations = Conversation.objects.bulk_create(Conversation(owner=o) for o in owners)
    versions = {
        version.policy.slug: version
        for version in PolicyVersion.objects.filter(number=1).select_related("policy")
    }
    now = timezone.now()
    runs = Run.objects.bulk_create(
        (
            Run(
                conversation=conversations[n * 7919 % len(conversations)],
                policy_version=versions[policy_of(n)],
                client_message_id=uuid.uuid4(),
                question=f"Question {n}",
                status="failed" if n % 1009 == 500 else "succeeded",
                created_at=now - timedelta(minutes=count // TURNS_PER_RUN - n),
                ended_at=now,
            )
            for n in range(count // TURNS_PER_RUN)
        ),
        batch_size=1000,
    )
    began = time.perf_counter()
    with connection.cursor() as cursor:
        columns = "run_id, index, attempt, status, kind, thought, answer, "
        columns += "stream_id, started_at, ended_at"
        with cursor.copy(f"COPY chat_turn ({columns}) FROM STDIN") as copy:
            for row in rows(count, runs[0].pk):
                copy.write_row(row)
        cursor.execute("DROP INDEX turn_space_words")
        cursor.execute(ACTIONS)
        cursor.execute(RUN_DOCUMENTS)
        cursor.execute(DOCUMENTS.format(vector=VECTOR.replace("%s", BODIES)))
        cursor.execute(
            "CREATE INDEX turn_space_words ON chat_turndocument USING gin (space_id, words)"
        )
        cursor.execute("VACUUM ANALYZE")
        cursor.execute(
            "SELECT pg_relation_size('turn_space_words'), pg_table_size('chat_turndocument'),"
            " avg(pg_column_size(words)), avg(length(thought))"
            " FROM chat_turndocument JOIN chat_turn ON turn_id = id"
        )
        index, table, vector, text = cursor.fetchone()
    print(
        f"{count:,} turns made in {time.perf_counter() - began:.0f} s: {text:.0f} characters and a "
        f"tsvector of {vector:.0f} bytes each; table {table >> 20} MB, word index {index >> 20} MB",
        flush=True,
    )
    return people[0], reviewer


def policy_of(n: int) -> str:
    """Return the policy of a run: half are explicit, and one in a hundred is rewoo."""
    return "rewoo" if n % 101 == 50 else "explicit" if n % 7 < 4 else "implicit"


def rows(count: int, first_run: int) -> Iterator[tuple[Any, ...]]:
    """Yield turns whose thoughts are sentences of Python's manual, as search splits them."""
    from chat.search.words import words

    chance = random.Random(7)  # noqa: S311 - it chooses sentences
    sentences = [
        " ".join(word.text for word in words(sentence))
        for text in topics.values()
        for sentence in re.split(r"(?<=[.:])\s+", text)
        if 40 < len(sentence) < 400
    ]
    for n in range(count):
        text = " ".join(chance.choices(sentences, k=6))
        planted = " ".join(w for w, one_in in FREQUENCIES.items() if chance.random() * one_in < 1)
        kind = "action" if chance.random() < 0.75 else "thought"
        run, index = divmod(n, TURNS_PER_RUN)
        yield (
            *(first_run + run, index, 1, "complete", kind, f"{text} {planted}", ""),
            *("0-0", "2026-11-01", "2026-11-01"),
        )


if __name__ == "__main__":
    main()
