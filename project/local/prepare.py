"""Bring the database up to date and see that somebody can sign in; the launcher runs this.

The demo account is made only where nobody has an account yet, so a database that is somebody's own
never gains a user. Its password is random and kept in `.local`. The last line written is a
`Prepared` in JSON; it holds no password.
"""

import json
import os
import secrets
import sys
from dataclasses import asdict, dataclass

import django
import psycopg
import redis
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection

from agents.errors import ConfigurationError
from chat.runs.models_offered import current_model
from project.errors import CannotStart
from project.local.embedded import kept

DEMO = "demo"
PASSWORD = "demo-password"  # noqa: S105
PASSWORD_LENGTH = 12
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
PATIENCE = 10


@dataclass(frozen=True)
class Prepared:
    """Who can sign in with the kept password ("" for nobody that we know), and what answers."""

    username: str
    model: str


def main() -> None:
    """Prepare everything; end with one line on what to mend where that fails."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    try:
        django.setup()
        _require_servers()
        call_command("migrate", interactive=False, verbosity=1)
        print(json.dumps(asdict(Prepared(_demo_account(), _model()))))
    except (CannotStart, ConfigurationError, CommandError, ImproperlyConfigured) as error:
        sys.exit(f"ERROR: {error}")
    except (psycopg.Error, django.db.Error) as error:
        sys.exit(f"ERROR: The database could not be brought up to date: {_one_line(error)}")


def _require_servers() -> None:
    parameters = connection.get_connection_params()
    parameters.pop("cursor_factory")
    try:
        psycopg.connect(**parameters | {"connect_timeout": PATIENCE}).close()
    except psycopg.OperationalError as error:
        raise CannotStart(
            f"The database of DATABASE_URL cannot be reached: {_one_line(error)}"
        ) from error
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=PATIENCE) as client:
            client.ping()
    except redis.RedisError as error:
        raise CannotStart(
            f"The Redis of REDIS_URL cannot be reached: {_one_line(error)}"
        ) from error


def _demo_account() -> str:
    users = get_user_model().objects
    password = kept(settings.LOCAL_DIR, PASSWORD, _new_password)
    if not users.exists():
        users.create_superuser(DEMO, password=password)
    demo = users.filter(username=DEMO, is_active=True).first()
    return DEMO if demo is not None and demo.check_password(password) else ""


def _model() -> str:
    model = current_model()
    return "" if model.is_demo else f"{model.model} ({model.found})"


def _new_password() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(PASSWORD_LENGTH))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    main()
