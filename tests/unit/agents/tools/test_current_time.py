"""The time is told for a zone, and another date is placed in the week and from today."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents.tools.current_time import current_time


def test_the_time_is_now(observe: Callable[..., Any]) -> None:
    before = datetime.now(UTC).replace(microsecond=0)

    text = observe(current_time).observation.text

    told = datetime.fromisoformat(text.partition("ISO 8601: ")[2].partition(",")[0])
    assert before <= told <= datetime.now(UTC)
    assert f"{told:%Y-%m-%d %H:%M:%S} ({told:%A}), UTC, UTC+00:00" in text


@pytest.mark.parametrize("name", ["Asia/Kolkata", "asia/kolkata", "Kolkata", " asia/kolkata "])
def test_a_zone_is_found_as_people_write_it(observe: Callable[..., Any], name: str) -> None:
    text = observe(current_time, {"timezone": name}).observation.text

    told = datetime.fromisoformat(text.partition("ISO 8601: ")[2].partition(",")[0])
    assert told.utcoffset() == timedelta(hours=5, minutes=30)
    assert "Asia/Kolkata, UTC+05:30" in text


def test_a_zone_with_a_space_is_found(observe: Callable[..., Any]) -> None:
    text = observe(current_time, {"timezone": "new york"}).observation.text

    assert f"{datetime.now(ZoneInfo('America/New_York')):%Y-%m-%d}" in text


@pytest.mark.parametrize("name", ["Europe/Pariss", "../../etc/passwd", "/etc/passwd", "x" * 9_999])
def test_an_unknown_zone_gets_near_ones(observe: Callable[..., Any], name: str) -> None:
    seen = observe(current_time, {"timezone": name})

    assert seen.observation.error == "ToolFailed"
    assert "Unknown time zone" in seen.observation.text
    assert "Europe/Paris" in seen.observation.text
    assert len(seen.observation.text) < 300


@pytest.mark.parametrize(
    ("days", "says"),
    [(0, "today"), (1, "1 day from today"), (34, "34 days from today"), (-1_000, "1,000 days ago")],
)
def test_another_day_is_placed(observe: Callable[..., Any], days: int, says: str) -> None:
    day = datetime.now(UTC).date() + timedelta(days)

    text = observe(current_time, {"day": str(day)}).observation.text

    if datetime.now(UTC).date() + timedelta(days) == day:  # midnight has not passed in between
        assert f"{day} is a {day:%A}, {says}." in text


@pytest.mark.parametrize("day", ["christmas", "2026-02-30", ""])
def test_a_day_that_is_none_is_refused(observe: Callable[..., Any], day: str) -> None:
    seen = observe(current_time, {"day": day})

    assert seen.observation.error == "InvalidInputs"
    assert "day: " in seen.observation.text
