"""A tool that tells the date and the time."""

import difflib
from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from agents.errors import ToolFailed
from agents.tools.spec import tool


@tool(timeout=5)
def current_time(
    timezone: Annotated[
        str, Field(description="an IANA name such as Europe/Paris; UTC when left out")
    ] = "UTC",
) -> str:
    """Tell the current date, time of day, weekday and UTC offset, now, today, in a time zone."""
    now = datetime.now(_zone(timezone))
    offset = f"{now:%z}"
    return (
        f"{now:%Y-%m-%d %H:%M:%S} ({now:%A}), {now.tzinfo}, UTC{offset[:3]}:{offset[3:5]}\n"
        f"ISO 8601: {now.isoformat(timespec='seconds')}; day {now:%j} of the year, "
        f"week {now:%V} of {now:%G}"
    )


def _zone(name: str) -> ZoneInfo:
    """Return the zone of that name in any case, spaces for underscores; raises ToolFailed."""
    wanted = _key(name)
    names = {_key(known): known for known in available_timezones()}
    if wanted in names:
        return ZoneInfo(names[wanted])
    by_city = {key.rpartition("/")[2]: known for key, known in sorted(names.items())}
    near = [by_city[city] for city in difflib.get_close_matches(wanted[:60], by_city, n=3)]
    near += [names[key] for key in difflib.get_close_matches(wanted[:60], names, n=3)]
    hint = ", ".join(dict.fromkeys(near)) or "Europe/Paris, America/New_York, Asia/Tokyo"
    raise ToolFailed(f"Unknown time zone {name[:60]!r}. Names near it: {hint}.")


def _key(name: str) -> str:
    return "_".join(name.split()).lower()
