"""What a tool has pictured is kept with its turn, shown on the page and given back on replay."""

from collections.abc import Callable
from typing import Any

from django.test import Client

from agents.contracts import Image
from chat.models import Run, User

PICTURE = {"media_type": "image/jpeg", "data": "/9j/AAAA"}


def test_a_picture_is_shown_with_its_turn(
    tell: Callable[..., Run], ada: User, client: Client
) -> None:
    turn: dict[str, Any] = {
        "tool": "browser_screenshot",
        "inputs": {},
        "observation": "A picture of the shop.",
        "observation_images": [PICTURE],
    }
    run = tell(ada, turn)
    client.force_login(ada)

    page = client.get(run.get_absolute_url()).content.decode()

    assert 'src="data:image/jpeg;base64,/9j/AAAA"' in page
    assert 'alt="Picture 1 of turn 1"' in page
    observation = run.turns.get().as_contract().observation
    assert observation is not None
    assert observation.images == (Image.model_validate(PICTURE),)
