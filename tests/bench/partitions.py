"""Measure turns and calls in partitions of a month beside tables that are whole, interleaved.

Run as `make bench-partitions`, or with the number of turns as the argument. Three forms of the
tables of turns, actions and calls hold the same rows of two years, side by side in one database:

- `whole`: as they are, without triggers and indexes that are no keys;
- `by_run`: in ranges of the run's number, cut where a month begins;
- `by_month`: with the month of the run in every row and every key.

What chooses a partition is part of every key, so actions name their run or its month as well.
Turns are stored in the newest month, as the product does it; pages and hits are read once more
`unaware`, without what chooses the partition. Milliseconds are medians, of the CPU of the Postgres
process that serves the connection and by the wall clock.
"""

import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

import psutil
import psycopg

from project.local.throwaway import throwaway

TURNS = 1_000_000
TURNS_PER_RUN = 10
MONTHS = 24
ROUNDS = 7
TIMES = 200
"""How often a round does each thing; what is unaware of its partition, a tenth as often."""
HITS = 25
SAID = "Where do walruses sleep? " * 6
UNIQUE = {
    "chat_turn": ("run_id", "index"),
    "chat_modelcall": ("run_id", "index"),
    "chat_action": ("turn_id", "position"),
}
"""The tables, and what a row of each is known by."""

RUNS = """
CREATE TABLE run (id bigint PRIMARY KEY, month date NOT NULL, lease_until timestamptz);
INSERT INTO run SELECT n, date '2024-12-01' + make_interval(months => (n - 1) * {months} / {runs})
FROM generate_series(1, {runs}) AS n
"""
ROWS = {
    "chat_turn": """
        space_id, id, run_id, index, attempt, status, kind, thought, answer, stream_id
        {and_key}) SELECT 1, {id}, run.id, n, 1, 'complete', 'action', {text}, '', '0-0'""",
    "chat_modelcall": """
        space_id, id, run_id, index, turn_index, attempt, purpose, provider, model, shared, rest,
        digest, reply, reasoning, stop_reason, error
        {and_key}) SELECT 1, {id}, run.id, n, n, 1, 'think', '', '', 0, '', '', {text}, '', '', ''
        """,
    "chat_action": """
        space_id, id, turn_id, position, tool, inputs, observation
        {and_its_key}) SELECT 1, {id}, {id}, 0, 'calculator', '{{}}', {text}""",
}
TEXT = "concat(md5(run.id::text), md5(n::text), md5((run.id * n)::text), md5((run.id + n)::text))"
STORE = """
WITH held AS (
  UPDATE run SET lease_until = now() WHERE id = %(run)s RETURNING id, id AS run_id, month
), turn AS (
  INSERT INTO {form}.chat_turn (space_id, run_id, index, attempt, status, kind, thought, answer,
    stream_id {and_key})
  SELECT 1, id, %(index)s, 1, 'open', 'action', %(said)s, '', '0-0' {and_key} FROM held
  ON CONFLICT ({known_by}) DO UPDATE SET status = EXCLUDED.status RETURNING id
), call AS (
  INSERT INTO {form}.chat_modelcall (space_id, run_id, index, turn_index, attempt, purpose,
    provider, model, shared, rest, digest, reply, reasoning, stop_reason, error {and_key})
  SELECT 1, id, %(index)s, %(index)s, 1, 'think', '', '', 0, '', '', %(said)s, '', '', '' {and_key}
  FROM held ON CONFLICT ({known_by}) DO UPDATE SET reply = EXCLUDED.reply RETURNING id
), action AS (
  INSERT INTO {form}.chat_action (space_id, turn_id, position, tool, inputs {and_its_key})
  SELECT 1, turn.id, 0, 'calculator', '{{}}' {and_its_key} FROM turn, held
  ON CONFLICT ({action_known_by}) DO UPDATE SET inputs = EXCLUDED.inputs RETURNING id
)
SELECT (SELECT id FROM turn), (SELECT id FROM call), (SELECT id FROM action)
"""
PAGE = (
    "SELECT * FROM {form}.chat_turn WHERE run_id = %(run_id)s {of_turns} ORDER BY index",
    "SELECT * FROM {form}.chat_action WHERE turn_id = ANY(%(turns)s) {of_actions}",
)
HIT = "SELECT * FROM {form}.chat_turn WHERE id = ANY(%(turns)s) {of_hits}"
DELETE = (
    "DELETE FROM {form}.chat_action WHERE turn_id = ANY(%(turns)s) {of_actions}",
    "DELETE FROM {form}.chat_modelcall WHERE run_id = %(run_id)s {of_turns}",
    "DELETE FROM {form}.chat_turn WHERE run_id = %(run_id)s {of_turns}",
)
FORGET = (
    "DELETE FROM whole.chat_action WHERE turn_id <= {turn}",
    "DELETE FROM whole.chat_modelcall WHERE run_id <= {run}",
    "DELETE FROM whole.chat_turn WHERE run_id <= {run}",
)
Database = psycopg.Connection[Any]


@dataclass(frozen=True)
class Form:
    """A form of the tables, and the column that chooses the partition, if they have any."""

    name: str
    key: str = ""

    def known_by(self, *columns: str) -> str:
        """Return the columns of a key."""
        return ", ".join(dict.fromkeys(filter(None, (self.key, *columns))))

    def sql(self, template: str, *, aware: bool = True, **more: Any) -> str:
        """Return a statement for this form, where it is `aware` of the partition it needs."""
        key = self.key if aware else ""
        return template.format(
            form=self.name,
            and_key=", month" if key == "month" else "",
            and_its_key=f", {key}" if key else "",
            known_by=self.known_by("run_id", "index"),
            action_known_by=self.known_by("turn_id", "position"),
            of_turns="AND month = %(month)s" if key == "month" else "",
            of_actions=f"AND {key} = %({key})s" if key else "",
            of_hits=f"AND {key} = ANY(%({key}s)s)" if key else "",
            **more,
        )


WHOLE = Form("whole")
FORMS = (WHOLE, Form("by_run", "run_id"), Form("by_month", "month"))


class Costs:
    """What each thing cost in each form."""

    def __init__(self, database: Database) -> None:
        self._backend = psutil.Process(database.info.backend_pid)
        self._found: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)

    @contextmanager
    def of(self, what: str, form: Form, times: int = TIMES) -> Iterator[None]:
        """Count what a block costs that does something so often."""
        cpu, began = sum(self._backend.cpu_times()[:2]), time.perf_counter()
        yield
        wall, cpu = time.perf_counter() - began, sum(self._backend.cpu_times()[:2]) - cpu
        self._found[what, form.name].append((1000 * cpu / times, 1000 * wall / times))

    def tell(self) -> None:
        """Print the figures."""
        for what, form in self._found:
            for n, kind in enumerate(("cpu", "wall")):
                ours, floor = (
                    statistics.median(costs[n] for costs in self._found[what, name])
                    for name in (form, WHOLE.name)
                )
                if form != WHOLE.name:
                    name = f"partitions_{what}_{kind}_{form}"
                    print(f"FIGURE {name} {ours:.3f} ms vs whole {floor:.3f}")


def main() -> None:
    """Print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    with throwaway() as environment:
        os.environ |= environment | {"DJANGO_SETTINGS_MODULE": "project.settings"}
        import django  # It reads the settings, which name the throw-away servers only now.

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        from project.ops.backup import address_of

        call_command("migrate", verbosity=0)
        address = address_of(dict(connection.get_connection_params()))
        with psycopg.connect(address, autocommit=True, prepare_threshold=None) as database:
            measure(database, count // TURNS_PER_RUN)


def measure(database: Database, runs: int) -> None:
    """Fill the tables of all forms, and do everything in each of them in turn."""
    database.execute(RUNS.format(months=MONTHS, runs=runs))
    for form in FORMS:
        began = time.perf_counter()
        fill(database, form, runs)
        print(f"{form.name}: filled in {time.perf_counter() - began:.0f} s", flush=True)
    database.execute("VACUUM ANALYZE")
    costs, chance = Costs(database), random.Random(7)  # noqa: S311 - it chooses runs
    for number in range(ROUNDS + 1):
        into = Costs(database) if number == 0 else costs
        new = runs + 1 + number * TIMES
        numbers = {
            "new": range(new, new + TIMES),
            "read": chance.sample(range(1 + runs // MONTHS, runs + 1), TIMES),
            "deleted": range(new - runs + runs // MONTHS, new - runs + runs // MONTHS + TIMES),
        }
        database.execute(
            "INSERT INTO run SELECT n, %s FROM generate_series(%s::bigint, %s) AS n",
            [first_of(MONTHS - 1), new, new + TIMES - 1],
        )
        for form in FORMS[number % 3 :] + FORMS[: number % 3]:
            go_round(database, into, form, runs, numbers)
    for form in FORMS:
        with costs.of("forget_a_month", form, 1):
            forget_a_month(database, form, runs // MONTHS)
    costs.tell()


def fill(database: Database, form: Form, runs: int) -> None:
    """Make the tables of a form and fill them."""
    database.execute(f"CREATE SCHEMA {form.name}")
    for table, unique in UNIQUE.items():
        kind = "date NOT NULL" if form.key == "month" else "bigint NOT NULL"
        more = "" if form.key in {"", *unique} else f", {form.key} {kind}"
        database.execute(
            f"CREATE TABLE {form.name}.{table} (LIKE public.{table} INCLUDING DEFAULTS INCLUDING"
            f" IDENTITY INCLUDING CONSTRAINTS {more}, PRIMARY KEY ({form.known_by('id')}),"
            f" UNIQUE ({form.known_by(*unique)}))"
            + (f" PARTITION BY RANGE ({form.key})" if form.key else "")
        )
        for month in range(MONTHS if form.key else 0):
            database.execute(
                f"CREATE TABLE {form.name}.{table}_{month} PARTITION OF {form.name}.{table}"
                f" FOR VALUES {borders(form, month, runs)}"
            )
        turn = f"({form.known_by('turn_id')}) REFERENCES {form.name}.chat_turn"
        names = turn if table == "chat_action" else "(run_id) REFERENCES run"
        database.execute(
            f"ALTER TABLE {form.name}.{table} ADD FOREIGN KEY {names} DEFERRABLE INITIALLY DEFERRED"
        )
        rows = form.sql(ROWS[table], text=TEXT, id=f"(run.id - 1) * {TURNS_PER_RUN} + n + 1")
        key = {"month": ", run.month", "run_id": ", run.id"}.get(form.key if more else "", "")
        database.execute(
            f"INSERT INTO {form.name}.{table} ({rows}{key} FROM run,"
            f" generate_series(0, {TURNS_PER_RUN - 1}) AS n ORDER BY run.id, n"
        )
        restart = runs * TURNS_PER_RUN + 1
        database.execute(f"ALTER TABLE {form.name}.{table} ALTER id RESTART WITH {restart}")


def borders(form: Form, month: int, runs: int) -> str:
    """Return where a partition begins and ends."""
    if form.key == "month":
        return f"FROM ('{first_of(month)}') TO ('{first_of(month + 1)}')"
    low, high = (n * runs // MONTHS + 1 for n in (month, month + 1))
    return f"FROM ({low}) TO ({'MAXVALUE' if month == MONTHS - 1 else high})"


def first_of(month: int) -> date:
    """Return the first day of a month of the two years; the first is December 2024."""
    return date(2024 + (11 + month) // 12, (11 + month) % 12 + 1, 1)


def go_round(
    database: Database, costs: Costs, form: Form, runs: int, numbers: dict[str, Sequence[int]]
) -> None:
    """Store turns, read pages and hits and delete runs, in one form."""
    run: Callable[..., Any] = database.execute

    def of(number: int) -> dict[str, Any]:
        return {"run_id": number, "month": first_of(min(MONTHS - 1, (number - 1) * MONTHS // runs))}

    with costs.of("store", form):
        for number in numbers["new"]:
            run(form.sql(STORE), {"run": number, "index": 0, "said": SAID}, prepare=True)
    for aware, suffix, times in ((True, "", TIMES), (False, "_unaware", TIMES // 10)):
        with costs.of(f"page{suffix}", form, times):
            for number in numbers["read"][:times]:
                turns = run(form.sql(PAGE[0], aware=aware), of(number)).fetchall()
                found = {"turns": [turn[0] for turn in turns]}
                run(form.sql(PAGE[1], aware=aware), of(number) | found).fetchall()
        hits = numbers["read"][:HITS]
        all_hits = {"turns": [number * TURNS_PER_RUN for number in hits], "run_ids": hits}
        all_hits["months"] = [of(number)["month"] for number in hits]
        with costs.of(f"hits{suffix}", form, times):
            for _ in range(times):
                run(form.sql(HIT, aware=aware), all_hits).fetchall()
    with costs.of("delete", form):
        for number in numbers["deleted"]:
            turns = run(form.sql(PAGE[0]), of(number)).fetchall()
            with database.transaction():
                for statement in DELETE:
                    run(form.sql(statement), of(number) | {"turns": [turn[0] for turn in turns]})


def forget_a_month(database: Database, form: Form, runs: int) -> None:
    """Delete the oldest month, of so many runs, or drop its partitions."""
    names = [f"{form.name}.{table}" for table in reversed(UNIQUE)]
    drop = [f"ALTER TABLE {name} DETACH PARTITION {name}_0; DROP TABLE {name}_0" for name in names]
    with database.transaction():
        for statement in drop if form.key else FORGET:
            database.execute(statement.format(turn=runs * TURNS_PER_RUN, run=runs))


if __name__ == "__main__":
    main()
