"""What a policy is called, and says of itself to people; the content is in its versions."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from agents.text import storable
from chat.publishing.check import Unfit

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}\Z")
NAME_LENGTH = 80
DESCRIPTION_LENGTH = 2_000
WORDS = ("slug", "name", "description")


class Words(NamedTuple):
    """The slug by which searches and commands name a policy, its name, and what it is for."""

    slug: str
    name: str
    description: str = ""


def checked_words(told: Mapping[str, Any]) -> Words:
    """Return the words of a policy as they are stored; raises Unfit."""
    found = {word: _one_text(told.get(word, "")) for word in WORDS}
    found["name"] = " ".join(found["name"].split())
    problems: dict[str, str] = {}
    if not SLUG.match(found["slug"]):
        problems["slug"] = "Up to 50 small letters, digits, - and _, such as careful_french."
    if not found["name"]:
        problems["name"] = "Give it a name."
    if len(found["name"]) > NAME_LENGTH:
        problems["name"] = f"A name has at most {NAME_LENGTH} characters."
    if len(found["description"]) > DESCRIPTION_LENGTH:
        problems["description"] = f"A description has at most {DESCRIPTION_LENGTH:,} characters."
    if problems:
        raise Unfit(problems)
    return Words(**found)


def _one_text(value: object) -> str:
    return storable(value.replace("\0", "")).strip() if isinstance(value, str) else ""
