"""Download a run as its owner does."""

import json
from typing import Any

from django.db import connection
from django.test import Client

from chat.models import Run, User
from tests.integration.reading.answers import text_of


def downloaded(run: Run, user: User) -> dict[str, Any]:
    """Return what the person gets for the run as JSON."""
    client = Client()
    client.force_login(user)
    content: dict[str, Any] = json.loads(text_of(client.get(f"/runs/{run.pk}/transcript.json")))
    connection.close()
    return content
