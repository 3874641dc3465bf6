"""Questions on dates and times: now, in a city, days until a date, the weekday of a date."""

import re
from collections.abc import Sequence
from datetime import date
from functools import cache
from zoneinfo import available_timezones

from agents.providers.demo.formats.instructions import run_python, tell_time
from agents.providers.demo.formats.steps import Step, Task, one_step

_MONTHS = "january february march april may june july august september october november december"
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS.split())
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_MONTH})\b,? ?(\d{{4}})?")
_MONTH_FIRST = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b,? ?(\d{{4}})?")
_TODAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_NOW = re.compile(
    r"\bwhat(?:'s| is| was)? (?:the )?(?:current )?(?:day|date|time|weekday)\b"
    r"|\bwhich day is\b|\b(?:current|today's) (?:date|time|day)\b|\btime is it\b"
    r"|^(?:the )?(?:time|date) (?:in|at|now|today)\b|\btoday\b|\bright now\b"
)
_PLACE = re.compile(r"\b(?:in|at|for) ([a-z][a-z_/ .'-]{1,39})$")
_UNTIL = re.compile(r"\bdays?\b.*\b(until|till|to|before|since|after|from)\b")
_DAYS = re.compile(r"\bdays?\b.*\b(until|till|to|and|since|after|from|between)\b")
_WEEKDAY = re.compile(r"\bweekday\b|\b(?:day of the week|what day|which day)\b")
_CITIES = {
    "beijing": "Asia/Shanghai",
    "delhi": "Asia/Kolkata",
    "germany": "Europe/Berlin",
    "france": "Europe/Paris",
    "india": "Asia/Kolkata",
    "italy": "Europe/Rome",
    "mumbai": "Asia/Kolkata",
    "san francisco": "America/Los_Angeles",
    "seattle": "America/Los_Angeles",
    "spain": "Europe/Madrid",
    "uk": "Europe/London",
    "england": "Europe/London",
    "boston": "America/New_York",
    "washington": "America/New_York",
}
_LONGEST = 200


def read_dates(text: str, previous: str) -> Task | None:
    """Return the task if `text` asks for a date, a time, a weekday or a number of days."""
    asked = " ".join(text.lower().rstrip("?.! ").split())
    if len(asked) > _LONGEST:
        return None
    days = _dates_in(asked)
    if len(days) == 2 and _DAYS.search(asked):
        return _days_from_to(*days)
    day = days[0] if len(days) == 1 else None
    if day is not None and _UNTIL.search(asked):
        return _days_between(day)
    if day is not None and _WEEKDAY.search(asked):
        return _weekday(day)
    if not days and _NOW.search(asked):
        return _now(asked)
    return None


def _now(asked: str) -> Task:
    place = _PLACE.search(asked)
    zone = "UTC" if place is None else _zone(place[1])
    step = tell_time(f"I have no clock of my own, so I ask for the time in the zone {zone}.", zone)
    return one_step(step, lambda seen: f"It is **{_first_line(seen)}**.")


def _days_between(day: str) -> Task:
    def first(_: Sequence[str]) -> Step:
        return tell_time(
            f"To count the days to {day} I first need to know today's date, which I do not.", "UTC"
        )

    def second(seen: Sequence[str]) -> Step:
        today = _today(seen[0])
        code = (
            "from datetime import date\n"
            f"print((date.fromisoformat({day!r}) - date.fromisoformat({today!r})).days)"
        )
        return run_python(
            f"Today is {today} (UTC). Now Python can count the days between the two dates.", code
        )

    return Task(steps=(first, second), answer=lambda seen: _days_said(day, seen))


def _days_from_to(first: str, second: str) -> Task:
    code = (
        "from datetime import date\n"
        f"print(abs((date.fromisoformat({second!r}) - date.fromisoformat({first!r})).days))"
    )
    step = run_python(f"Python can count the days between {first} and {second}.", code)
    return one_step(step, lambda seen: f"**{_many(seen.strip())}** between {first} and {second}.")


def _days_said(day: str, seen: Sequence[str]) -> str:
    today, days = _today(seen[0]), seen[1].strip()
    if days.startswith("-"):
        return f"**{_many(days[1:])}** since {day} (today is {today}, UTC)."
    return f"**{_many(days)}** left until {day} (today is {today}, UTC)."


def _many(days: str) -> str:
    return f"{days} day" if days == "1" else f"{days} days"


def _weekday(day: str) -> Task:
    code = f"from datetime import date\nprint(date.fromisoformat({day!r}).strftime('%A'))"
    step = run_python(f"Python's calendar knows the weekday of {day}.", code)
    return one_step(step, lambda seen: f"{day} is a **{seen.strip()}**.")


def _today(seen: str) -> str:
    found = _TODAY.search(seen)
    return found[0] if found else ""


def _first_line(seen: str) -> str:
    return seen.strip().split("\n")[0]


def _dates_in(asked: str) -> list[str]:
    """Return the real dates in a question as YYYY-MM-DD, in the order in which they stand there."""
    found = {
        match.start(): _real_date(*parts(match))
        for pattern, parts in _PATTERNS
        for match in pattern.finditer(asked)
    }
    return [day for _, day in sorted(found.items()) if day is not None]


def _real_date(year: str | None, month: str, day: str) -> str | None:
    if year is None:
        return None
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _year_first(match: re.Match[str]) -> tuple[str | None, str, str]:
    return match[1], match[2], match[3]


def _day_first(match: re.Match[str]) -> tuple[str | None, str, str]:
    return match[3], _month_number(match[2]), match[1]


def _month_first(match: re.Match[str]) -> tuple[str | None, str, str]:
    return match[3], _month_number(match[1]), match[2]


def _month_number(name: str) -> str:
    months = [month[:3] for month in _MONTHS.split()]
    return str(months.index(name[:3]) + 1)


def _zone(place: str) -> str:
    """Return the time zone of a place; an unknown one as it is, for the tool to say so."""
    plain = place.strip().removesuffix(" right now").removesuffix(" now").removeprefix("the ")
    return _CITIES.get(plain) or _zones().get(plain.replace(" ", "_")) or plain


@cache
def _zones() -> dict[str, str]:
    """Return the zones by their own names and by their cities, in small letters."""
    names = sorted(available_timezones())
    by_city = {name.rpartition("/")[2].lower(): name for name in names}
    return by_city | {name.lower(): name for name in names}


_PATTERNS = ((_ISO, _year_first), (_DAY_FIRST, _day_first), (_MONTH_FIRST, _month_first))
