"""A database that was away and is back is used by the next who needs it, not by the one after."""

from contextlib import ExitStack

import psycopg
from django.db import connection
from django.test import Client
from django.urls import reverse

from chat.models import User


def end_all_connections() -> None:
    """Hand this thread's connection back, and end every one that the database has, as it may."""
    parameters = connection.get_connection_params()
    name = connection.settings_dict["NAME"]
    parameters.pop("cursor_factory")
    connection.close()
    with psycopg.connect(**parameters, autocommit=True) as own:
        own.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = %s AND pid <> pg_backend_pid()",
            (name,),
        )


def fill_the_pool() -> None:
    """Have so many connections at once that all are idle afterwards."""
    pool = connection.pool  # type: ignore[attr-defined] # of the Postgres backend
    with ExitStack() as held:
        for _ in range(pool.max_size - 1):
            held.enter_context(pool.connection())


def test_a_page_is_shown_at_the_first_try_after_the_database_was_restarted(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    fill_the_pool()
    end_all_connections()

    page = client.get(reverse("conversation_list"))

    assert page.status_code == 200
