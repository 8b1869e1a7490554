"""A date for a `datetime` is midnight, and a time may lack its seconds, wherever they are in a type."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, time
from typing import Any, TypedDict

import msgspec
import pytest

from assay import Server
from tests.server.scripted import call

MIDNIGHT = datetime(2026, 7, 28)


@dataclasses.dataclass
class Event:
    at: datetime
    name: str = ""


class Entry(TypedDict):
    event: Event | None


class Stop(msgspec.Struct, rename="camel"):
    leaves_at: time
    then: Stop | None = None


class Point(msgspec.Struct, array_like=True):
    at: datetime


def takes(annotation: Any) -> tuple[Server, list[Any]]:
    server, received = Server("test"), []

    async def take(value) -> None:  # type: ignore[no-untyped-def]
        received.append(value)

    take.__annotations__["value"] = annotation
    server.tools.add(take)
    return server, received


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (datetime, "2026-07-28", MIDNIGHT),
        (datetime, "2026-07-28T00:00", MIDNIGHT),
        (datetime, "2026-07-28 00:00Z", MIDNIGHT.replace(tzinfo=UTC)),
        (time, "10:30", time(10, 30)),
        (time, "10:30+00:00", time(10, 30, tzinfo=UTC)),
        (datetime | None, "2026-07-28", MIDNIGHT),
        (datetime | int, "2026-07-28", MIDNIGHT),
        (list[datetime], ["2026-07-28", "2026-07-28T00:00:00"], [MIDNIGHT, MIDNIGHT]),
        (dict[str, datetime], {"a": "2026-07-28"}, {"a": MIDNIGHT}),
        (tuple[str, datetime], ["2026-07-28", "2026-07-28"], ("2026-07-28", MIDNIGHT)),
        (Event, {"at": "2026-07-28", "name": "2026-07-28"}, Event(MIDNIGHT, "2026-07-28")),
        (Entry, {"event": {"at": "2026-07-28"}}, {"event": Event(MIDNIGHT)}),
        (Stop, {"leavesAt": "10:30", "then": {"leavesAt": "11:30"}}, Stop(time(10, 30), Stop(time(11, 30)))),
    ],
)
async def test_short_forms_are_read(annotation: Any, value: Any, expected: Any) -> None:
    server, received = takes(annotation)
    assert await call(server, "take", {"value": value}) == {"content": []}
    assert received == [expected]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (datetime, "2026-13-28"),
        (datetime, "2026-07"),
        (datetime, "28.07.2026"),
        (datetime, 20260728),
        (time, "25:00"),
        (time, "10"),
        (list[datetime], ["2026-07-28", "tomorrow"]),
        (Event, {"at": "2026-07-28", "name": 3}),
        (Event, ["2026-07-28"]),
    ],
)
async def test_what_is_no_date_is_still_refused(annotation: Any, value: Any) -> None:
    server, received = takes(annotation)
    result = await call(server, "take", {"value": value})
    assert (result["isError"], received) == (True, [])


async def test_variables_of_templates_may_be_dates() -> None:
    server = Server("test")

    @server.resource("day://{day}")
    async def show(day: datetime) -> str:
        return day.isoformat()

    (contents,) = await server.resources.read("day://2026-07-28")
    assert contents.text == "2026-07-28T00:00:00"


def test_schema_has_the_format_of_dates_and_times_wherever_they_are() -> None:
    for annotation in (Event, Entry, Stop, list[Event | None], dict[str, tuple[datetime, ...]], Point | None):
        server, _ = takes(annotation)
        schema = repr(server.tools.list()[0].input_schema)
        assert ("'format': 'date-time'" in schema) is (annotation is not Stop), annotation
        assert ("'format': 'time'" in schema) is (annotation is Stop), annotation
