"""What a tool has pictured is kept with its turn, shown on the page and given back on replay."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.contracts import Image
from chat.models import Run, User

JPEG = {"media_type": "image/jpeg", "data": "/9j/AAAA"}
BROKEN = {"media_type": "image/png", "data": "AAAAA"}
SCRIPT = {"media_type": "image/svg+xml", "data": "PHN2Zy8+"}


@pytest.fixture
def run(tell: Callable[..., Run], ada: User) -> Run:
    """Store a run of Ada's with a picture, and with what is none."""
    turn: dict[str, Any] = {
        "tool": "browser_screenshot",
        "inputs": {},
        "observation": "A picture of the shop.",
        "images": [JPEG, SCRIPT, BROKEN],
    }
    return tell(ada, turn)


def picture(run: Run, number: int = 1, turn: int = 1, action: int = 1) -> str:
    return reverse("action_picture", args=[run.pk, turn, action, number])


def test_a_picture_is_shown_with_its_turn(run: Run, ada: User, client: Client) -> None:
    client.force_login(ada)

    page = client.get(run.get_absolute_url()).content.decode()
    answer = client.get(picture(run))

    assert f'src="{picture(run)}"' in page
    assert 'alt="Picture 1 of turn 1"' in page
    assert (answer.content, answer["Content-Type"]) == (b"\xff\xd8\xff\x00\x00\x00", "image/jpeg")


def test_a_stranger_is_refused(run: Run, bob: User, client: Client) -> None:
    client.force_login(bob)

    assert client.get(picture(run)).status_code == 404


def test_a_visitor_is_sent_to_sign_in(run: Run, client: Client) -> None:
    assert client.get(picture(run)).status_code == 302


@pytest.mark.parametrize(
    ("number", "turn", "action"),
    [
        *[(2, 1, 1), (3, 1, 1), (4, 1, 1), (0, 1, 1)],
        *[(1, 2, 1), (1, 0, 1), (1, 1, 2), (1, 1, 0)],
    ],
)
def test_what_is_no_picture_is_not_there(
    run: Run, ada: User, client: Client, number: int, turn: int, action: int
) -> None:
    client.force_login(ada)

    assert client.get(picture(run, number, turn, action)).status_code == 404


def test_a_picture_is_given_back_on_replay(run: Run) -> None:
    [action] = run.turns.get().as_contract().actions
    observation = action.observation

    assert observation is not None
    assert observation.images[0] == Image.model_validate(JPEG)
