"""All that is a person's, in one archive that they can take away."""

import json
import zipfile
from typing import IO, Any

from allauth.account.models import EmailAddress

from chat.governance import door
from chat.models import Conversation, User
from chat.people.roles import role_of
from chat.transcripts.download import as_json


def export_person(user: User, file: IO[bytes]) -> int:
    """Write a ZIP of a person's account, conversations and whole runs; return how many runs.

    `account.json` is the person with the teams that they belong to, `conversations.json` lists what
    they began, in their own space and in teams', with the numbers of the runs, and
    `runs/<number>.json` is each run in the form of docs/transcripts.md. One run is in memory at a
    time, and not whole.
    """
    runs = 0
    listed: list[dict[str, Any]] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("account.json", _text(_account(user)))
        for conversation in door.begun_conversations(user).select_related("space").order_by("pk"):
            listed.append(_conversation(conversation))
            for run in conversation.runs.select_related(
                "conversation__owner", "policy_version__policy"
            ).order_by("pk"):
                with archive.open(f"runs/{run.pk}.json", "w", force_zip64=True) as entry:
                    for piece in as_json(run):
                        entry.write(piece.encode())
                runs += 1
        archive.writestr("conversations.json", _text(listed))
    return runs


def _account(user: User) -> dict[str, Any]:
    return {
        "form": "turnstone-person/1",
        "name": user.get_username(),
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "addresses": [
            {"email": address.email, "is_verified": address.verified}
            for address in EmailAddress.objects.filter(user=user)
        ],
        "role": role_of(user),
        "instructions": user.instructions,
        "teams": [
            {"space": part.space.slug, "name": part.space.name, "role": part.role}
            for part in user.memberships.select_related("space").order_by("space__slug")
        ],
        "joined_at": user.date_joined.isoformat(),
        "last_sign_in_at": user.last_login.isoformat() if user.last_login else None,
    }


def _conversation(conversation: Conversation) -> dict[str, Any]:
    return {
        "conversation": conversation.pk,
        "space": conversation.space.slug,
        "title": conversation.title,
        "instructions": conversation.instructions,
        "created_at": conversation.created_at.isoformat(),
        "updated_at": conversation.updated_at.isoformat(),
        "runs": list(conversation.runs.order_by("pk").values_list("pk", flat=True)),
    }


def _text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
