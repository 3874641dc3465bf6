"""Who plays in a chaos run: people, each in three tabs, and the stories they ask for."""

import json
import random
import threading
from collections.abc import Callable
from pathlib import Path

from django.core.management import call_command
from django.test import Client

from chat.models import Conversation, Policy, User
from tests.chaos.people import Asked, Person, Tab
from tests.chaos.stories import Story, story
from tests.chaos.transports import Address, event_transport, socket_transport

TABS = (
    ("socket", socket_transport, True),
    ("events", event_transport, True),
    ("steady", event_transport, False),
)
"""How the tabs of each person reach the server, and whether their network is lost now and then.

A page whose network stays learns nothing by coming back: it must be told.
"""


def prepare_people(seed: int, address: str, count: int, at_once: int, life: float) -> list[Person]:
    """Migrate the database and make so many people, each signed in."""
    call_command("migrate", interactive=False, verbosity=0)
    return [_person(seed, number, address, at_once, life) for number in range(count)]


def prepare_stories(seed: int, count: int, served: Path) -> Callable[[], Asked | None]:
    """Publish a policy for each of `count` stories, and return who hands them out.

    What the model server tells of them is written to the file `served`.
    """
    chance = random.Random(f"stories {seed}")
    told = [story(chance, str(number)) for number in range(count)]
    served.write_text(json.dumps({one.key: one.served for one in told if one.served}))
    for one in told:
        _publish(one)
    waiting = iter(told)
    lock = threading.Lock()

    def hand_out() -> Asked | None:
        with lock:
            one = next(waiting, None)
        return None if one is None else Asked(one)

    return hand_out


def _person(seed: int, number: int, address: str, at_once: int, life: float) -> Person:
    user = User.objects.create_user(f"person-{number}")
    conversation = Conversation.objects.create(owner=user)
    client = Client()
    client.force_login(user)
    where = Address(address, conversation.pk, client.cookies["sessionid"].value)
    tabs = [
        Tab(name, where, open_line, random.Random(f"tab {seed} {number} {name}"), is_cut and life)
        for name, open_line, is_cut in TABS
    ]
    return Person(tabs, random.Random(f"person {seed} {number}"), at_once)


def _publish(one: Story) -> None:
    Policy.objects.create(slug=one.key, name=one.key).publish(one.spec)
