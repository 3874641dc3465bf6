"""What a text hides, or turns around, is seen wherever a run is read; what is stored stays."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from chat.models import Run, User
from chat.stream.render import render_turn
from tests.integration.reading.answers import text_of
from tests.integration.reading.stored_calls import stored_call

TellRun = Callable[..., Run]
Browse = Callable[[User], Client]

TURNED = "stored \u202elive\u202c"
SEEN = (
    'stored <span class="hidden-character" title="\\u202e">U+202E</span>live'
    '<span class="hidden-character" title="\\u202c">U+202C</span>'
)
PERSIAN = "می\u200cخواهم بدانم"  # noqa: RUF001


@pytest.fixture
def run(ada: User, tell: TellRun) -> Run:
    """Store a run in which everything is turned around."""
    run = tell(
        ada,
        {
            "thought": TURNED,
            "tool": f"tool{TURNED}",
            "inputs": {f"name{TURNED}": TURNED},
            "observation": TURNED,
        },
        question=TURNED,
    )
    request = json.dumps(
        {"model": TURNED, "messages": [{"role": "user", "content": TURNED}]}, ensure_ascii=False
    )
    stored_call(run, 0, request, reply=TURNED, reasoning=TURNED, error=TURNED)
    return run


@pytest.mark.parametrize(
    ("page", "times"),
    [
        ("", 7),  # question, outline, thought, tool, name and value of the input, observation
        ("calls/1/", 6),  # error, reasoning, reply, message, setting, exactly as it was posted
        ("compare/{run}/", 11),
    ],
)
def test_a_text_that_turns_around_is_seen_to_do_so(
    run: Run, ada: User, browse: Browse, page: str, times: int
) -> None:
    html = browse(ada).get(f"/runs/{run.pk}/{page.format(run=run.pk)}").content.decode()

    body = html.partition("<main")[2]
    assert body.count(SEEN) >= times
    assert "\u202e" not in body


def test_a_turn_that_is_followed_live_shows_it_too(run: Run) -> None:
    html = render_turn(run.turns.get(), run)

    assert html.count(SEEN) == 5
    assert "\u202e" not in html


def test_what_is_left_out_of_the_page_is_marked_when_it_is_asked_for(
    ada: User, tell: TellRun, browse: Browse
) -> None:
    run = tell(ada, {"observation": "x\n" * 9_000 + TURNED + "\nx" * 9_000})

    more = browse(ada).get(
        f"/runs/{run.pk}/turns/1/actions/1/observation.txt", headers={"HX-Request": "true"}
    )

    assert SEEN in more.content.decode()


def test_the_record_and_its_files_keep_the_characters(run: Run, ada: User, browse: Browse) -> None:
    client = browse(ada)

    content = json.loads(text_of(client.get(f"/runs/{run.pk}/transcript.json")))
    request = client.get(f"/runs/{run.pk}/calls/1/request.txt").content.decode()
    observation = client.get(f"/runs/{run.pk}/turns/1/actions/1/observation.txt").content.decode()

    assert content["turns"][0]["thought"] == TURNED == observation
    assert content["model_calls"][0]["request"]["rest"] == request
    assert TURNED in request
    assert run.turns.get().thought == TURNED


def test_ordinary_prose_is_left_as_it_is(ada: User, tell: TellRun, browse: Browse) -> None:
    run = tell(ada, {"thought": PERSIAN, "observation": f"one\r\n{PERSIAN}"})

    html = browse(ada).get(f"/runs/{run.pk}/").content.decode()

    assert html.count(PERSIAN) == 2
    assert "hidden-character" not in html


def test_a_found_turn_shows_what_it_hides(ada: User, tell: TellRun, browse: Browse) -> None:
    tell(ada, {"thought": f"needle {TURNED}"})

    assert SEEN in browse(ada).get("/search/?q=needle").content.decode()
