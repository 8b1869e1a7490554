"""One HTTP request and what comes back for it, whoever carries it: status, headers, chunks as they come."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any

from assay.protocol.framing.sse import SseEvent, SseParser

PATIENCE = 5.0
"""Seconds after which a fact that was waited for counts as absent."""


class Answer:
    """A producer fills it from its own task; a test reads it while it grows."""

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
        """Take one more chunk; false when the answer has ended."""
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
        """The next event of a stream; none when it has ended."""
        await self.started()
        while not self._events and await self.more():
            pass
        return self._events.popleft() if self._events else None

    async def message(self) -> Any:
        """The next JSON-RPC message of a stream, past priming events."""
        while (event := await self.event()) is not None:
            if event.data:
                return json.loads(event.data)
        return None

    async def messages(self) -> list[Any]:
        """All that is left, of a stream or as one object."""
        await self.complete()
        if not self.is_stream:
            return [self.json] if self.body else []
        events, self._events = list(self._events), deque()
        return [json.loads(event.data) for event in events if event.data]
