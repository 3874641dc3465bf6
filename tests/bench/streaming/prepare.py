"""Make the rows of one measurement: a person, a session, and conversations with a run each.

Prints JSON: the session's key and pairs of conversation and run. `prepare.py N`.
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


def main(count: int) -> None:
    """Make `count` conversations whose run a worker holds."""
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
    pairs = [(run.conversation_id, run.pk) for run in runs]
    print(json.dumps({"session": client.cookies["sessionid"].value, "runs": pairs}))


main(int(sys.argv[1]))
