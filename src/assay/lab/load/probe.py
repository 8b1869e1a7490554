"""Sends each operation once before the load: what does not work here is left out, and named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .endpoint import Endpoint
from .generator import SESSIONS
from .operation import Operation
from .wire import Wire, WireSettings, now


class Probe:
    """Receives the answer to one operation."""

    def __init__(self) -> None:
        self._ended: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def completed(self, wire: Wire, operation: Operation, intended: int, at: int, error: str | None) -> None:
        if not self._ended.done():
            self._ended.set_result(error)

    def message(self, operation: Operation, sent: int, previous: int, at: int, message: bytes) -> None: ...

    async def error(self, wire: Wire, seconds: float) -> str | None:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._ended)
        except TimeoutError:
            wire.expire(now())
            return await self._ended


async def working(
    endpoint: Endpoint, settings: WireSettings, operations: Sequence[Operation]
) -> tuple[list[Operation], list[str]]:
    """The operations that are answered without an error, and remarks on the others.

    Raises:
        OpeningFailed: no session can be opened.
    """
    answered: list[Operation] = []
    remarks: list[str] = []
    for operation in operations:
        probe = Probe()
        wire = endpoint.connect(settings, probe)
        try:
            await wire.open()
            error = None
            if operation.kind != SESSIONS:
                wire.send(operation, now())
                error = await probe.error(wire, settings.timeout)
        finally:
            await wire.close()
        if error is None:
            answered.append(operation)
        else:
            remarks.append(f"left out: {operation.name}: {error}")
    return answered, remarks
