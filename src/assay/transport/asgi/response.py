"""The response to a request that a host passed to `Server.http`: one body, or a stream of parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Response:
    """What `Server.http` returns, for the host to send."""

    status: int
    headers: list[tuple[str, str]]
    """Names are in lower case."""
    body: bytes = b""
    """The whole body; empty if there is a stream."""
    stream: AsyncIterator[bytes] | None = None
    """The parts of an event stream as they are written, else None. Send each at once."""

    async def read(self) -> bytes:
        """The whole body, for hosts that cannot send a stream: returns when the stream has ended. The stream
        of a GET ends with its session."""
        if self.stream is None:
            return self.body
        return b"".join([part async for part in self.stream])

    async def close(self) -> None:
        """Call this when the client has disconnected before the end of the stream. Idempotent."""
        if isinstance(self.stream, PartStream):
            await self.stream.aclose()


class PartStream:
    """The parts of one response. The application waits with the next part until the host has taken the last
    one."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._part: bytes | None = None
        self._failure: BaseException | None = None
        self._ended = False
        self._ready, self._free = asyncio.Event(), asyncio.Event()
        self.departed = asyncio.Event()

    async def put(self, part: bytes) -> None:
        """Pass a part on.

        Raises:
            OSError: the host has closed the stream, or has taken nothing for too long.
        """
        try:
            async with asyncio.timeout(self._patience):
                while self._part is not None and not self.departed.is_set():
                    self._free.clear()
                    await self._free.wait()
        except TimeoutError:
            self.depart()
        if self.departed.is_set():
            raise ConnectionResetError("the client is gone")
        self._part = part
        self._ready.set()

    def end(self, failure: BaseException | None = None) -> None:
        """No part follows. The host gets what it has not taken yet, and then the failure."""
        if not self._ended:
            self._ended, self._failure = True, failure
            self._ready.set()

    def depart(self) -> None:
        """The client is gone: drop the rest."""
        self.departed.set()
        self._part = None
        self._free.set()
        self.end()

    def __aiter__(self) -> PartStream:
        return self

    async def __anext__(self) -> bytes:
        await self._ready.wait()
        part, self._part = self._part, None
        if part is not None:
            if not self._ended:
                self._ready.clear()
            self._free.set()
            return part
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.depart()
