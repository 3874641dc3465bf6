"""Who may read what is decided in one place."""

import re
from pathlib import Path

import pytest

CHAT = Path(__file__).resolve().parents[3] / "chat"
DOOR = {"governance/door.py"}
DECIDES = {
    "who reviews": (re.compile(r"\.is_reviewer\b"), set()),
    "whose a run or an approval is": (re.compile(r"\bconversation__owner="), set()),
    "whose something is": (re.compile(r"\bowner_id [!=]= "), set()),
    "who has a part in a space": (
        re.compile(r"\bmemberships?__user\b|\bMembership\.objects\b"),
        {"people/teams.py", "management/commands/spaces.py"},  # say who has
    ),
    "what is of the person who asks": (
        re.compile(r"\bowner=(?:request\.)?user\b"),
        {"conversations/views.py", "publishing/views.py"},  # begin one of their own
    ),
}


@pytest.mark.parametrize("what", DECIDES)
def test_who_may_read_is_asked_of_the_door_alone(what: str) -> None:
    decides, makes = DECIDES[what]
    places = {
        path.relative_to(CHAT).as_posix()
        for path in CHAT.rglob("*.py")
        if "migrations" not in path.parts and decides.search(path.read_text(encoding="utf-8"))
    }

    assert places - DOOR == makes
