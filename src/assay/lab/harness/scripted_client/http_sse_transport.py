"""The client's HTTP+SSE transport of the first revision, with its two endpoints."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.trace.recorder import MAX_BYTES
from assay.protocol.framing.sse import SseEvent, SseParser

from .failure import ConnectionBroken, StepFailed
from .transport import PendingCall, PendingCalls
from .web import Headers, WebClient

if TYPE_CHECKING:
    from .client import ScriptedClient

PATIENCE: Final = 3.0
"""Seconds to wait for the `endpoint` event."""


class HttpSseClientTransport:
    def __init__(self, client: ScriptedClient) -> None:
        self.client = client
        self._web = WebClient(client)
        self._pending = PendingCalls()
        self._endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._reading = asyncio.create_task(self._read())
        either: tuple[asyncio.Future[Any], ...] = (self._reading, self._endpoint)
        await asyncio.wait(either, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not self._endpoint.done():
            await self.close()
            raise ConnectionBroken("the server sent no endpoint event")

    async def opened(self) -> None: ...

    async def send(self, body: bytes, message: Any, call: PendingCall | None) -> None:
        self._pending.add(call)
        url = await self._endpoint
        async with self._web.call("POST", url, self._bearing(url, {"Content-Type": JSON}), body) as reply:
            if reply.status >= 300:
                raise StepFailed(f"the server answered with HTTP status {reply.status}")

    def _bearing(self, url: str, headers: dict[str, str]) -> Headers:
        request = Request(headers=list(headers.items()), method="", target=url)
        self.client.add_credentials(request)
        return request.headers

    async def _read(self) -> None:
        url, parser = self.client.setup.url, SseParser(MAX_BYTES)
        with suppress(StepFailed):
            async with self._web.call("GET", url, self._bearing(url, {"Accept": EVENT_STREAM})) as reply:
                if reply.status == 200 and reply.head.media_type == EVENT_STREAM:
                    async for piece in reply.pieces():
                        for event in parser.feed(piece):
                            self._take(event)
        self._pending.fail("the event stream ended")

    def _take(self, event: SseEvent) -> None:
        if event.event == "message" and event.data:
            self.client.receive(event.data)
        elif event.event == "endpoint" and not self._endpoint.done():
            base = self.client.setup.url
            url = urljoin(base, event.data.decode(errors="replace"))
            if urlsplit(url)[:2] == urlsplit(base)[:2]:  # credentials must not go to another origin
                self._endpoint.set_result(url)

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
