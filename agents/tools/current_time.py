"""A tool that tells the date and the time, and how far away another date is."""

import difflib
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from agents.errors import ToolFailed
from agents.tools.spec import tool


@tool(timeout=5, doing="Looking at the clock", reads_only=True)
def current_time(
    timezone: Annotated[str, Field(description="such as Europe/Paris; UTC if not given")] = "UTC",
    day: Annotated[date | None, Field(description="another date, YYYY-MM-DD, to ask about")] = None,
) -> str:
    """Tell the current date, time, weekday and UTC offset: now, today, in a time zone.

    With `day`, tell that date's weekday, too, and how many days it is from today.
    """
    now = datetime.now(_zone(timezone))
    lines = [
        f"{now:%Y-%m-%d %H:%M:%S} ({now:%A}), {now.tzinfo}, UTC{_offset(now)}",
        f"ISO 8601: {now.isoformat(timespec='seconds')}, day {now:%j} of the year, week {now:%V}",
    ]
    if day is not None:
        lines.append(f"{day} is a {day:%A}, {_distance((day - now.date()).days)}.")
    return "\n".join(lines)


def _offset(now: datetime) -> str:
    offset = now.isoformat()[-6:]
    return offset if offset[0] in "+-" else "+00:00"


def _distance(days: int) -> str:
    if days == 0:
        return "today"
    many = f"{abs(days):,} day{'s' if abs(days) > 1 else ''}"
    return f"{many} from today" if days > 0 else f"{many} ago"


def _zone(name: str) -> tzinfo:
    """Return the zone of that name, in any case, or of that city; raises ToolFailed."""
    wanted = _key(name)
    if wanted in ("", "utc", "z"):
        return UTC
    names = _names()
    cities = {key.rpartition("/")[2]: known for key, known in names.items() if "/" in key}
    if known := names.get(wanted) or cities.get(wanted):
        return ZoneInfo(known)
    near = [cities[city] for city in difflib.get_close_matches(wanted[:60], cities, n=3)]
    near += [names[key] for key in difflib.get_close_matches(wanted[:60], names, n=3)]
    hint = ", ".join(dict.fromkeys(near)) or "Europe/Paris, America/New_York, Asia/Tokyo"
    raise ToolFailed(f"Unknown time zone {name[:60]!r}. Try one of: {hint}.")


@cache
def _names() -> dict[str, str]:
    return {_key(known): known for known in sorted(available_timezones())}


def _key(name: str) -> str:
    return "_".join(name.split()).lower()
