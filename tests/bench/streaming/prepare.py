"""Make the rows of one measurement: people with a session each, and conversations with a run each.

Prints JSON: for each conversation its number, its run's, and its owner's session. `prepare.py N`.
"""

import json
import sys
import uuid
from datetime import timedelta

import django

django.setup()

from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from chat.models import Conversation, Run, User  # noqa: E402
from chat.policies import offered  # noqa: E402

PAGES = 100
"""How many conversations one person watches at once; more than 200 pages of one are refused."""


def main(count: int) -> None:
    """Make `count` conversations whose run a worker holds."""
    made = [rows(min(PAGES, count - first)) for first in range(0, count, PAGES)]
    print(json.dumps([row for some in made for row in some]))


def rows(count: int) -> list[tuple[int, int, str]]:
    """Make a person with `count` conversations."""
    user = User.objects.create_user(f"bench-{uuid.uuid4().hex[:8]}")
    version = offered()[0].latest
    conversations = Conversation.objects.bulk_create(Conversation(owner=user) for _ in range(count))
    runs = Run.objects.bulk_create(
        Run(
            conversation=conversation,
            policy_version=version,
            client_message_id=uuid.uuid4(),
            question="How fast?",
            status="running",
            attempt=1,
            stream_id="1-0",
            started_at=timezone.now(),
            lease_until=timezone.now() + timedelta(hours=1),
        )
        for conversation in conversations
    )
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    return [(run.conversation_id, run.pk, session) for run in runs]


main(int(sys.argv[1]))
