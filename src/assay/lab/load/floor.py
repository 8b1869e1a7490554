"""What the generator can do on this machine: the same operations, with a server that does no work."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from assay.lab.harness.subject.process import Process
from assay.lab.harness.transport import Transport

from .endpoint import Endpoint
from .generator import Generator, Pace
from .operation import Operation
from .result import Floor
from .saturation import CpuMeter
from .schedule import SECOND
from .tally import Tally
from .wire import WireSettings, now

WARM_UP: Final = 0.1
SECONDS: Final = 0.5
MODULE: Final = "assay.lab.load.bare_server"


@asynccontextmanager
async def bare_endpoint(transport: Transport) -> AsyncIterator[Endpoint]:
    command = (sys.executable, "-m", MODULE, str(transport))
    if transport is Transport.STDIO:
        yield Endpoint(transport, command=command)
        return
    process = await Process.start(command)
    try:
        port = int(await process.read())
        scheme = "ws" if transport is Transport.WEBSOCKET else "http"
        yield Endpoint(transport, url=f"{scheme}://127.0.0.1:{port}/")
    finally:
        await process.stop(listens=True)


async def measure_floor(
    transport: Transport, settings: WireSettings, cycle: Sequence[Operation], users: int
) -> Floor | None:
    """None if nothing was answered."""
    async with bare_endpoint(transport) as endpoint:
        begin = now() + int(WARM_UP * SECOND)
        tally = Tally(begin, begin + int(SECONDS * SECOND))
        pace = Pace(users=users, timeout=settings.timeout)
        generator = Generator(pace, cycle, partial(endpoint.connect, settings), tally)
        try:
            await generator.open()
            tally.begin, tally.end = now(), now() + int(SECONDS * SECOND)
            meter = CpuMeter()
            await generator.run(tally.end)
            use = meter.read()
            await generator.drain()
        finally:
            await generator.close()
    latencies = tally.latencies()
    if not latencies.count:
        return None
    p50, p99 = (value / 1e6 for value in latencies.percentiles((50, 99)))
    return Floor(tally.answered / SECONDS, p50, p99, use.cpu * 1e6 / tally.operations)
