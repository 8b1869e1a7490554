"""One measurement: traffic at a pace on an endpoint, with the cost of the generator and of the server."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from .endpoint import Endpoint
from .error_kind import UNSENT
from .generator import Generator, Pace
from .histogram import Histogram
from .operation import Operation
from .result import (
    Cost,
    Floor,
    Machine,
    Point,
    ServerUsage,
    StreamMessages,
    latency_of,
)
from .saturation import CpuMeter, CpuUse, saturation
from .schedule import SECOND
from .tally import Tally
from .usage import UsageWatch, usage_of
from .wire import WireSettings, now

EVERY: Final = 0.25
"""Seconds between two samples of the server's processes."""
REPORT: Final = 1.0
SHARES: Final = (50.0, 99.0)
TIME_STAMP: Final = "time stamp"
FIRST_MESSAGE: Final = "first message"


class LoadProgress(Struct, frozen=True):
    """Once a second. Latencies are those of the last second, in milliseconds."""

    elapsed: float
    seconds: float
    operations: int
    rate: float
    errors: int
    p50: float | None
    p99: float | None
    in_flight: int
    rss: int | None


class Measured(Struct, frozen=True):
    tally: Tally
    use: CpuUse
    server: ServerUsage | None
    interrupted: bool
    precise: bool
    opened: int


class Measurement:
    def __init__(
        self,
        endpoint: Endpoint,
        settings: WireSettings,
        cycle: Sequence[Operation],
        pace: Pace,
        *,
        server: int | None = None,
        keep_fresh: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`server` is its process, if it is on this machine. `keep_fresh` renews a token; true if it did."""
        self._endpoint = endpoint
        self._pace = pace
        self._server = server
        self._keep_fresh = keep_fresh
        self._tally = Tally(0, 0)
        self._generator = Generator(pace, cycle, partial(endpoint.connect, settings), self._tally)
        self._watch = UsageWatch()
        self._interrupted = False

    async def run(
        self, seconds: float, warm_up: float, report: Callable[[LoadProgress], None] = lambda progress: None
    ) -> Measured:
        """
        Raises:
            OpeningFailed: no session could be opened.
            asyncio.CancelledError: it was stopped before the measured time began.
        """
        generator = self._generator
        try:
            await generator.open()
            begin = now() + int(warm_up * SECOND)
            self._tally = generator.tally = Tally(begin, begin + int(seconds * SECOND))
            use = await self._drive(report)
            server = self._watch.result(self._tally.answered)
            await self._drain()
        finally:
            await generator.close()
        return Measured(
            self._tally, use, server, self._interrupted, sys.platform == "linux", generator.opened
        )

    async def _drive(self, report: Callable[[LoadProgress], None]) -> CpuUse:
        tally = self._tally
        self._generator.start(tally.end)
        driving = asyncio.create_task(self._generator.wait(tally.end))
        observing = asyncio.create_task(self._observe(report))
        meter: CpuMeter | None = None
        try:
            await asyncio.sleep(max(0.0, (tally.begin - now()) / SECOND))
            meter = CpuMeter()
            await driving
        except asyncio.CancelledError:
            if meter is None:
                raise
            self._interrupted = True
            tally.stop(now())
        finally:
            for task in (driving, observing):
                task.cancel()
            await asyncio.gather(driving, observing, return_exceptions=True)
        return meter.read()

    async def _drain(self) -> None:
        try:
            await self._generator.drain()
        except asyncio.CancelledError:
            self._interrupted = True

    async def _observe(self, report: Callable[[LoadProgress], None]) -> None:
        tally = self._tally
        due = tally.begin + int(REPORT * SECOND)
        last = 0
        while True:
            rss = self._sample()
            if now() >= due:
                due += int(REPORT * SECOND)
                report(self._progress(tally.answered - last, rss))
                last = tally.answered
            if self._keep_fresh is not None and await self._keep_fresh():
                for wire in self._generator.wires:
                    wire.refresh()
            await asyncio.sleep(EVERY)

    def _sample(self) -> int | None:
        """Only in the measured time."""
        if now() < self._tally.begin:
            return None
        own = [wire.process_id for wire in self._generator.wires]
        roots = [each for each in (self._server, *own) if each is not None]
        usage = usage_of(roots) if roots else None
        if usage is not None:
            self._watch.add((now() - self._tally.begin) / SECOND, usage, self._tally.answered)
        return None if usage is None else usage.rss

    def _progress(self, latest: int, rss: int | None) -> LoadProgress:
        tally = self._tally
        number = max(tally.windows, default=0)
        window = tally.windows.get(number - 1) or tally.windows.get(number)
        values: list[float | None] = [None, None]
        if window is not None and window.latencies.count:
            values = [value / 1e6 for value in window.latencies.percentiles(SHARES)]
        return LoadProgress(
            elapsed=(now() - tally.begin) / SECOND,
            seconds=(tally.end - tally.begin) / SECOND,
            operations=tally.operations,
            rate=latest / REPORT,
            errors=tally.failed,
            p50=values[0],
            p99=values[1],
            in_flight=self._generator.in_flight,
            rss=rss,
        )


def seconds_of(tally: Tally) -> float:
    return max((tally.end - tally.begin) / SECOND, 1e-9)


def answer_rate(tally: Tally) -> float:
    """Answers without errors in a second."""
    share = 1 - tally.failed / tally.operations if tally.operations else 0.0
    return tally.answered * max(share, 0.0) / seconds_of(tally)


def saturation_of(measured: Measured, pace: Pace, floor: Floor | None) -> str:
    tally = measured.tally
    rate = tally.answered / seconds_of(tally)
    ceiling = None if floor is None else floor.rate
    return saturation(measured.use, rate, asked=pace.rate, lag=tally.lag, floor_rate=ceiling)


def cost_of(measured: Measured) -> Cost:
    use, tally = measured.use, measured.tally
    return Cost(
        cpu_share=use.share,
        wait_share=use.wait_share,
        cpu_us=use.cpu * 1e6 / tally.operations if tally.operations else None,
        lag_p99=tally.lag.percentile(99) / 1e6 if tally.lag.count else None,
        precise=measured.precise,
    )


def timeline_of(tally: Tally) -> list[Point]:
    points = []
    width = tally.width / SECOND
    for number in range(max(tally.windows, default=-1) + 1):
        window = tally.windows.get(number)
        end = min((number + 1) * width, seconds_of(tally))
        span = max(end - number * width, 1e-9)
        if window is None:
            points.append(Point(end, 0.0, 0.0, None, None))
            continue
        count = window.latencies.count
        p50, p99 = (value / 1e6 for value in window.latencies.percentiles(SHARES)) if count else (None, None)
        points.append(Point(end, count / span, window.errors / span, p50, p99))
    return points


def messages_of(tally: Tally) -> tuple[StreamMessages | None, Histogram]:
    """The latency of the messages inside streams: by the server's time stamps, else an upper bound."""
    histogram = tally.stamped if tally.is_stamped else tally.first_message
    latency = latency_of(histogram)
    if latency is None:
        return None, histogram
    method = TIME_STAMP if tally.is_stamped else FIRST_MESSAGE
    rate = tally.messages / seconds_of(tally)
    return StreamMessages(method, latency, rate, latency_of(tally.gaps)), histogram


def machine() -> Machine:
    average = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return Machine(os.cpu_count() or 1, round(average, 2), platform.python_version(), platform.platform())


def remarks_of(measured: Measured, pace: Pace) -> list[str]:
    tally = measured.tally
    remarks = []
    if measured.opened < pace.users and measured.opened:
        remarks.append(f"{measured.opened} of {pace.users} sessions could be opened at first")
    if pace.rate is not None:
        rate = tally.answered / seconds_of(tally)
        if rate < 0.98 * pace.rate:
            remarks.append(f"the server did not keep up: {rate:.1f}/s of {pace.rate:g}/s were answered")
        if tally.errors[UNSENT]:
            remarks.append("operations were not sent, since no connection was free: more --users open more")
    return remarks
