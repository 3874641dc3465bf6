"""What the database says of an error is logged without what stands in the row."""

import io
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.utils import DataError, IntegrityError

from chat.models import Run, RunStatus
from project.logging import JsonFormatter, TextFormatter
from project.ops.rows import shortened
from tests.integration.here import here

STATEMENTS = {
    "violates check constraint": (
        """CREATE TEMPORARY TABLE note (text text CHECK (length(text) < 5)) ON COMMIT DROP;
        INSERT INTO note VALUES ('xyzzy-diagnosis')""",
        IntegrityError,
    ),
    "violates unique constraint": (
        """CREATE TEMPORARY TABLE note (text text UNIQUE) ON COMMIT DROP;
        INSERT INTO note VALUES ('xyzzy-diagnosis'), ('xyzzy-diagnosis')""",
        IntegrityError,
    ),
    "invalid input syntax for type integer": ("SELECT 'xyzzy-diagnosis'::integer", DataError),
    "invalid input syntax for type json": (
        """SELECT '{"note": "xyzzy-diagnosis", }'::jsonb""",
        DataError,
    ),
}


@pytest.fixture
def logged() -> Iterator[Callable[[type[logging.Formatter]], io.StringIO]]:
    """Write the log in a form: `written = logged(JsonFormatter)`."""
    logger, handlers = logging.getLogger("tests.rows"), list[logging.Handler]()

    def logged(formatter: type[logging.Formatter]) -> io.StringIO:
        written = io.StringIO()
        handlers.append(logging.StreamHandler(written))
        handlers[-1].setFormatter(formatter())
        logger.addHandler(handlers[-1])
        return written

    yield logged
    for handler in handlers:
        logger.removeHandler(handler)


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
@pytest.mark.parametrize("told", STATEMENTS)
def test_an_error_of_the_database_is_logged_without_the_row(
    transactional_db: None, logged: Any, formatter: type[logging.Formatter], told: str
) -> None:
    sql, kind = STATEMENTS[told]
    written = logged(formatter)

    with pytest.raises(kind) as raised, connection.cursor() as cursor:
        cursor.execute(sql)
    logging.getLogger("tests.rows").error("It broke: %s", raised.value, exc_info=raised.value)

    assert "xyzzy" not in written.getvalue()
    assert written.getvalue().count(told) > 1
    assert "Traceback (most recent call last)" in written.getvalue()


def test_a_traceback_without_end_is_logged_by_its_two_ends() -> None:
    lines = [f"line {number}" for number in range(3_000)]

    told = shortened("\n".join(lines)).split("\n")

    assert len(told) < 200
    assert (told[0], told[-1]) == ("line 0", "line 2999")
    assert "  [2,820 lines are left out here]" in told


@pytest.mark.parametrize("levels", [200, 900])
def test_inputs_that_are_nested_without_end_are_refused_and_the_run_goes_on(
    asked: Callable[..., Run], caplog: pytest.LogCaptureFixture, levels: int
) -> None:
    deep = f'{{"expression": {"[" * levels}"x"{"]" * levels}}}'
    act = f"Thought: Deep.\nAction: calculator\nAction Input: {deep}"
    run = asked([{"say": act}, {"say": "Final Answer: done"}], tools=("calculator",))

    here().work(run.pk)

    run.refresh_from_db()
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "done")
    assert "nested more than 100 levels deep" in (run.turns.all()[0].actions[0].observation or "")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
