"""The time in any time zone, and conversion between zones.

What the time server of MCP's reference collection does, on Assay.

python examples/time_server.py                                           serve on stdio
LOCAL_TIMEZONE=Europe/Rome assay serve examples/time_server.py           with a default zone
"""

import os
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from msgspec import Meta

from assay import Server, ToolAnnotations, ToolError

LOCAL = os.environ.get("LOCAL_TIMEZONE", "UTC")
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
Zone = Annotated[str, Meta(max_length=64, description="IANA time zone, such as Europe/London")]
Clock = Annotated[str, Meta(pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$", description="Time of day, as HH:MM")]

server = Server("time", version="1.0.0", instructions=f"The user's time zone is {LOCAL}.")


@dataclass
class Moment:
    timezone: str
    datetime: str
    day_of_week: str
    is_dst: bool


@dataclass
class Conversion:
    source: Moment
    target: Moment
    time_difference: str


@server.tool(annotations=READ_ONLY)
async def get_current_time(timezone: Zone = LOCAL) -> Moment:
    """Get the current time in a time zone."""
    return describe(datetime.now(find_zone(timezone)))


@server.tool(annotations=READ_ONLY)
async def convert_time(
    time: Clock, source_timezone: Zone = LOCAL, target_timezone: Zone = LOCAL
) -> Conversion:
    """Convert a time of today from one time zone to another."""
    source = at_today(time, find_zone(source_timezone))
    target = source.astimezone(find_zone(target_timezone))
    difference = (target.utcoffset() or timedelta()) - (source.utcoffset() or timedelta())
    return Conversion(describe(source), describe(target), as_hours(difference))


def find_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # `ZoneInfo` opens a file: some names are directories
        raise ToolError(f"unknown time zone: {name}; use an IANA name such as Europe/London") from None


def at_today(clock: str, zone: ZoneInfo) -> datetime:
    return datetime.combine(datetime.now(zone).date(), time.fromisoformat(clock), zone)


def describe(moment: datetime) -> Moment:
    text = moment.isoformat(timespec="seconds")
    return Moment(str(moment.tzinfo), text, f"{moment:%A}", bool(moment.dst()))


def as_hours(difference: timedelta) -> str:
    """As in +9.0h, -3.5h or +5.75h."""
    hours = f"{difference / timedelta(hours=1):+.2f}"
    return f"{hours.removesuffix('0')}h"


if __name__ == "__main__":
    server.run()
