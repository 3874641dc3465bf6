"""A long observation of a transcript is folded, and can be had whole in steps."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from chat.models import Run, User
from chat.transcripts.fold import fold

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]


def test_a_long_observation_is_folded_and_can_be_had_whole(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    text = "".join(f"line {i}\n" for i in range(9000))
    run = tell(ada, {"observation": text})
    browser = browse(ada)
    address = f"/runs/{run.pk}/turns/1/actions/1/observation.txt"

    page = browser.get(f"/runs/{run.pk}/").content.decode()
    whole = browser.get(address)
    unfolded = browser.get(address, headers={"HX-Request": "true"}).content.decode()

    assert "line 0" in page
    assert "line 8999" in page
    assert "line 4500" not in page
    assert address in page
    assert whole.content.decode() == text
    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    assert "line 4500" in unfolded


def test_a_very_long_observation_comes_in_steps_of_which_none_is_long(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    text = "".join(f"line {i}\n" for i in range(60_000))
    run = tell(ada, {"observation": text})
    browser = browse(ada)

    page = browser.get(f"/runs/{run.pk}/").content.decode()
    (url,) = re.findall(r'hx-get="([^"]*observation.txt)"', page)
    shown, lengths = fold(text).head, []
    while url:
        step = browser.get(url, headers={"HX-Request": "true"}).content.decode()
        (piece,) = re.findall(r'text--whole" dir="auto">(.*?)</div>', step, re.DOTALL)
        shown += piece
        lengths.append(len(step))
        url = next(iter(re.findall(r'hx-get="([^"]*)"', step)), "")

    assert f"Show more of {len(text):,} characters" in page
    assert shown + fold(text).tail == text
    assert max(lengths) < 101_000
    assert len(lengths) == 7


@pytest.mark.parametrize("place", ["x", "-1", "9" * 9, "9" * 50])
def test_a_strange_place_in_an_observation_does_no_harm(
    ada: User, tell: TellRun, browse: Browse, place: str
) -> None:
    run = tell(ada, {"observation": "x\n" * 20_000})
    address = f"/runs/{run.pk}/turns/1/actions/1/observation.txt?from={place}"

    answer = browse(ada).get(address, headers={"HX-Request": "true"})

    assert answer.status_code == 200
    assert len(answer.content) < 101_000
