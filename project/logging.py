"""How Turnstone logs: one readable line for a terminal, or one JSON object for a log store.

Lines of a thread that works on a run name the run and its attempt. Neither form ever holds a
secret: what the environment calls a key, a password or a token, and the password in an address, is
struck out of every line. Nor is there a control character in it, for strangers choose some of what
is logged: a message is one line, and a terminal that shows it is not told what to do. What the
database says of an error is told without the row that it is about.
"""

import json
import logging
import re
import textwrap
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from chat.runs.worker.log_context import run_in_hand
from project.ops.printable import printable, printable_json, printable_lines
from project.ops.rows import database_errors, shortened, without_rows

STRUCK_OUT = "[secret]"
SECRET_NAME = re.compile(r"key|password|token|secret|credential", re.IGNORECASE)
SHORTEST_SECRET = 6


def configuration(style: str, level: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return Django's LOGGING for the style "text" or "json"."""
    formatter = JsonFormatter if style == "json" else TextFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"with_traceback": {"()": WithTraceback}},
        "formatters": {"line": {"()": formatter, "secrets": secrets_in(environment)}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "line"},
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Django's own handlers would say everything twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            # The access log tells the status of every answer.
            "django.request": {"level": "ERROR", "filters": ["with_traceback"]},
            # The worker tells about runs; the messages that woke it are noise.
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "daphne": {"level": "WARNING"},
            "uvicorn": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "asyncio": {"level": "WARNING"},
        },
    }


def secrets_in(environment: Mapping[str, str]) -> list[str]:
    """Return the values that must not be logged, the longest first."""
    found = {value for name, value in environment.items() if SECRET_NAME.search(name)}
    for value in environment.values():
        found |= _password_of(value)
    return sorted((text for text in found if len(text) >= SHORTEST_SECRET), key=len, reverse=True)


class TextFormatter(logging.Formatter):
    """Write time, level where it matters, run, logger and message, then the traceback, indented.

    A run is written as its number and its attempt: `[run 12.1]`.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        line = "%(asctime)s %(level_word)s%(run_word)s%(name)s: %(message)s"
        super().__init__(line, "%H:%M:%S")
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        worth_a_word = record.levelno >= logging.WARNING
        record.level_word = f"{record.levelname} " if worth_a_word else ""
        run = run_in_hand()  # a record is written by the thread that it comes from
        record.run_word = f"[run {run.run}.{run.attempt}] " if run else ""
        return strike_out(super().format(record), self._secrets)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Write what comes before the traceback, as one line."""
        record.message = _message(record)
        return printable(super().formatMessage(record))

    def formatException(self, info: Any) -> str:
        """Write a traceback, whose own words may be a stranger's, as lines that begin no record."""
        return textwrap.indent(printable_lines(_traceback(info)), "  ")

    def formatStack(self, stack_info: str) -> str:
        """Write a stack the same way."""
        return textwrap.indent(printable_lines(stack_info), "  ")


class JsonFormatter(logging.Formatter):
    """Write an object with time (UTC), level, logger, process, thread and message.

    A line about a run has `run` and `attempt`, a failure its `traceback`.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "thread": record.threadName,
            "message": strike_out(_message(record), self._secrets),
        }
        if run := run_in_hand():
            entry |= run._asdict()
        if record.exc_info:
            entry["traceback"] = strike_out(_traceback(record.exc_info), self._secrets)
        return printable_json(json.dumps(entry, ensure_ascii=False))


class WithTraceback(logging.Filter):
    """Let through what has a traceback to show."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record goes on."""
        return record.exc_info is not None


def strike_out(text: str, secrets: Iterable[str]) -> str:
    """Replace each secret in a text."""
    for secret in secrets:
        text = text.replace(secret, STRUCK_OUT)
    return text


def _message(record: logging.LogRecord) -> str:
    given = record.args.values() if isinstance(record.args, Mapping) else record.args or ()
    return without_rows(record.getMessage(), database_errors(*given))


def _traceback(info: Any) -> str:
    whole = logging.Formatter().formatException(info)
    return shortened(without_rows(whole, database_errors(info[1])))


def _password_of(value: str) -> set[str]:
    if "://" not in value:
        return set()
    try:
        password = urlsplit(value).password
    except ValueError:
        return set()
    return {password, unquote(password)} if password else set()
