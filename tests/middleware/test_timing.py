"""Durations by method and name, bounded in number."""

from __future__ import annotations

import pytest

from assay import Server
from assay.middleware import Timing
from assay.middleware.timing import MAX_NAMES
from tests.middleware.manual_clock import ManualClock
from tests.server.scripted import ask, call


def timed(slow: float | None = None) -> tuple[Server, Timing]:
    server, clock = Server("test"), ManualClock()
    timing = Timing(slow=slow, clock=clock)
    server.use(timing)

    @server.tool
    async def work(seconds: float) -> None:
        clock.advance(seconds)

    return server, timing


async def test_durations_are_kept_by_method_and_name() -> None:
    server, timing = timed()
    await call(server, "work", {"seconds": 1})
    await call(server, "work", {"seconds": 3})
    await ask(server, "no/such")
    duration = timing.durations["tools/call", "work"]
    assert (duration.count, duration.total, duration.longest, duration.mean) == (2, 4.0, 3.0, 2.0)
    assert timing.durations["no/such", None].count == 1


async def test_slow_requests_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    server, _ = timed(slow=2)
    await call(server, "work", {"seconds": 1})
    await call(server, "work", {"seconds": 3})
    assert [record.getMessage() for record in caplog.records] == ["tools/call work was slow: 3000.0 ms"]


async def test_clients_cannot_fill_the_memory_with_names() -> None:
    server, timing = timed()
    for number in range(MAX_NAMES + 50):
        await call(server, f"tool{number}")
        await ask(server, f"no/{number}")
    assert len(timing.durations) <= MAX_NAMES + 1
    assert sum(duration.count for duration in timing.durations.values()) == 2 * (MAX_NAMES + 50)
