"""An ordinary client: calls one after the other, in a session and without one."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Final

from .wire import ORDINARY, Response, call, connect, initialize, post, read_response

CONNECTIONS: Final = 4


@dataclass
class Service:
    """What the ordinary client got."""

    seconds: float = 0.0
    calls: int = 0
    slowest: float = 0.0
    """Seconds that the slowest call of a `def` tool took."""
    failures: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.calls / self.seconds if self.seconds else 0.0


class OrdinaryClient:
    def __init__(self, port: int) -> None:
        self._port = port
        self._session = ""

    async def open_session(self) -> None:
        response = await self._ask(post(initialize()))
        self._session = response.headers["mcp-session-id"]

    async def session_is_alive(self) -> bool:
        return _is_sum(await self._ask(post(call("add", a=1, b=2), mcp_session_id=self._session)))

    async def _ask(self, data: bytes) -> Response:
        reader, writer = await connect(self._port, ORDINARY)
        try:
            writer.write(data)
            return await read_response(reader)
        finally:
            writer.close()

    async def work(self, seconds: float) -> Service:
        """Call as fast as answers come, on several connections."""
        service = Service()
        begin = time.perf_counter()
        end = begin + seconds
        workers = [self._call_until(end, service) for _ in range(CONNECTIONS)]
        await asyncio.gather(*workers, self._call_in_threads_until(end, service))
        service.seconds = time.perf_counter() - begin
        return service

    async def _call_until(self, end: float, service: Service) -> None:
        reader, writer = await connect(self._port, ORDINARY)
        data = post(call("add", a=1, b=2))
        try:
            while service.calls == 0 or time.perf_counter() < end:
                writer.write(data)
                _note(await read_response(reader), service)
                service.calls += 1
        finally:
            writer.close()

    async def _call_in_threads_until(self, end: float, service: Service) -> None:
        """Call the `def` tool now and then, and note how long it takes."""
        while time.perf_counter() < end:
            begin = time.perf_counter()
            _note(await self._ask(post(call("add_in_thread", a=1, b=2))), service)
            service.slowest = max(service.slowest, time.perf_counter() - begin)
            await asyncio.sleep(0.02)


def _note(response: Response, service: Service) -> None:
    if not _is_sum(response):
        service.failures.append(f"{response.status} {response.body[:100]!r}")


def _is_sum(response: Response) -> bool:
    try:
        return bool(json.loads(response.body)["result"]["structuredContent"] == {"result": 3})
    except (ValueError, LookupError, TypeError):
        return False
