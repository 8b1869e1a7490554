"""The response to one HTTP request, over any transport: status, headers, and chunks as they arrive."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any

from assay.protocol.framing.sse import SseEvent, SseParser

PATIENCE = 5.0
"""Timeout in seconds for anything that a test waits for."""


class Answer:
    """A task fills it, and a test reads it at the same time."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.sse = SseParser(1 << 20)
        self._events: deque[SseEvent] = deque()
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._started = asyncio.Event()
        self._ended = False
        self.task: asyncio.Task[None]

    def start_with(self, status: int, headers: dict[str, str]) -> None:
        self.status, self.headers = status, headers
        self._started.set()

    def add(self, chunk: bytes) -> None:
        self._chunks.put_nowait(chunk)

    def end(self) -> None:
        self._started.set()
        self._chunks.put_nowait(None)

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    async def started(self) -> Answer:
        async with asyncio.timeout(PATIENCE):
            await self._started.wait()
        if self.status == 0:
            await self.task
        return self

    async def more(self) -> bool:
        """Read one more chunk; false at the end of the response."""
        if self._ended:
            return False
        async with asyncio.timeout(PATIENCE):
            chunk = await self._chunks.get()
        if chunk is None:
            self._ended = True
            if self.task.done():
                self.task.result()
            return False
        self.body += chunk
        if self.is_stream:
            self._events.extend(self.sse.feed(chunk))
        return True

    async def complete(self) -> Answer:
        """Read to the end."""
        await self.started()
        while await self.more():
            pass
        return self

    async def event(self) -> SseEvent | None:
        """The next event of a stream; none at its end."""
        await self.started()
        while not self._events and await self.more():
            pass
        return self._events.popleft() if self._events else None

    async def message(self) -> Any:
        """The next JSON-RPC message of a stream, without priming events."""
        while (event := await self.event()) is not None:
            if event.data:
                return json.loads(event.data)
        return None

    async def messages(self) -> list[Any]:
        """All remaining messages, of a stream or as one JSON object."""
        await self.complete()
        if not self.is_stream:
            return [self.json] if self.body else []
        events, self._events = list(self._events), deque()
        return [json.loads(event.data) for event in events if event.data]
