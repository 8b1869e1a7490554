"""The time server: zones, conversion, and what it refuses."""

from datetime import datetime
from typing import Any

import pytest

from examples.time_server import server


async def call(tool: str, **arguments: Any) -> Any:
    result = await server.tools.call(tool, arguments)
    return result.content[0].text if result.is_error else result.structured


async def test_current_time_is_that_of_the_zone() -> None:
    moment = await call("get_current_time", timezone="Asia/Kathmandu")
    assert moment["timezone"] == "Asia/Kathmandu" and moment["datetime"].endswith("+05:45")
    assert moment["day_of_week"] == f"{datetime.fromisoformat(moment['datetime']):%A}"
    assert moment["is_dst"] is False


async def test_zone_defaults_to_the_local_one() -> None:
    assert (await call("get_current_time"))["timezone"] == "UTC"


@pytest.mark.parametrize(
    ("zone", "clock", "difference"),
    [("Asia/Tokyo", "21:30:00+09:00", "+9.0h"), ("Asia/Kathmandu", "18:15:00+05:45", "+5.75h")],
)
async def test_time_is_converted(zone: str, clock: str, difference: str) -> None:
    result = await call("convert_time", time="12:30", source_timezone="UTC", target_timezone=zone)
    assert result["source"]["datetime"].endswith("T12:30:00+00:00")
    assert result["target"]["datetime"].endswith(f"T{clock}")
    assert result["time_difference"] == difference


@pytest.mark.parametrize("zone", ["Mars/Base", "Europe", "../../etc/passwd", "", "/etc/localtime", "a\0b"])
async def test_unknown_zone_is_refused(zone: str) -> None:
    assert "unknown time zone" in await call("get_current_time", timezone=zone)


@pytest.mark.parametrize("clock", ["25:00", "12:60", "noon", "12:30:00", "1:5", "12:30\n"])
async def test_time_in_another_form_is_refused(clock: str) -> None:
    assert "invalid arguments" in await call("convert_time", time=clock)
