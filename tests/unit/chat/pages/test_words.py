"""What pages say of durations, days and observations."""

from datetime import date, timedelta

import pytest

from chat.conversations.listing import age_in_words
from chat.models import Run
from chat.runs.words import seconds, status_in_words
from chat.templatetags.turns import is_prose, purpose_in_words

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""),
        (0.04, "< 0.1 s"),
        (0.05, "0.1 s"),
        (0.84, "0.8 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3599.7, "1 h 00 min"),
        (3840, "1 h 04 min"),
    ],
)
def test_durations_are_said_as_people_say_them(value: float | None, words: str) -> None:
    assert seconds(value) == words


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (-1, "Today"),
        (0, "Today"),
        (1, "Yesterday"),
        (2, "Previous 7 days"),
        (7, "Previous 7 days"),
        (8, "November"),
        (60, "September"),
        (400, "October 2025"),
    ],
)
def test_ages_are_the_headings_of_the_list(days: int, words: str) -> None:
    assert age_in_words(TODAY - timedelta(days=days), TODAY) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, False),
        ("", False),
        ("1603", False),
        (
            "The tide comes in twice a day. It is highest at noon and again about midnight. " * 2,
            True,
        ),
        ("{'a': 1, 'b': [2, 3]} " * 10 + ". ", False),
        ("for n in range(10):\n    print(n)\n" * 5, False),
    ],
)
def test_prose_is_told_from_data(text: str | None, expected: bool) -> None:
    assert is_prose(text) is expected


def test_purposes_are_words() -> None:
    assert purpose_in_words("choose_tool") == "Choose tool"


@pytest.mark.parametrize(
    ("ahead", "words"),
    [(None, "Waiting in line"), (0, "Next in line"), (2, "Waiting in line, 2 ahead")],
)
def test_a_place_in_the_queue_is_said_where_it_was_told(ahead: int | None, words: str) -> None:
    run = Run(status="queued")
    run.ahead = ahead

    assert status_in_words(run) == words
