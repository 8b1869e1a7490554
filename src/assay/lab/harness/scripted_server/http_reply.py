"""The response to an HTTP request of the client, recorded as it is written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from http.client import responses
from typing import Any

from assay.lab.harness.links.http_text import CRLF, EVENT_STREAM, HEAD_END
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import Recorder

Headers = Iterable[tuple[str, str]]


class HttpReply:
    """Writing to a client that disconnected does nothing: the trace records the disconnection."""

    def __init__(
        self,
        writer: asyncio.StreamWriter,
        recorder: Recorder,
        channel: str,
        disconnected: asyncio.Event,
        *,
        bodiless: bool = False,
    ) -> None:
        self._writer = writer
        self._recorder = recorder
        self._bodiless = bodiless
        self.channel = channel
        self.disconnected = disconnected
        self.started = False
        self.ended = False
        self.streaming = False

    async def respond(self, status: int, body: bytes = b"", headers: Headers = ()) -> None:
        """Send a response with a body of known length."""
        await self._head(status, [*headers, ("Content-Length", str(len(body)))])
        if body and not self._bodiless:
            self._record(Kind.BODY, body)
            await self.write(body)
        self._end(clean=True)

    async def stream(self, headers: Headers = ()) -> None:
        """Start an event stream."""
        defaults = [("Content-Type", EVENT_STREAM), ("Cache-Control", "no-store")]
        await self._head(200, [*defaults, *headers, ("Transfer-Encoding", "chunked")])
        self.streaming = True

    async def switch(self, headers: Headers) -> None:
        """Switch to another protocol."""
        await self._head(101, list(headers))

    async def block(self, block: bytes) -> None:
        """Send a block of the event stream, which includes its blank line."""
        if not self.ended:
            self._record(Kind.EVENT, block)
            await self.write(b"%x\r\n" % len(block) + block + CRLF)

    async def end(self) -> None:
        """End the event stream cleanly."""
        if not self.ended:
            await self.write(b"0\r\n\r\n")
            self._end(clean=True)

    async def write(self, data: bytes) -> None:
        """Write bytes unchanged. The caller records them in the trace."""
        with contextlib.suppress(ConnectionError):
            if not self._writer.is_closing():  # otherwise asyncio logs a warning
                self._writer.write(data)
            await self._writer.drain()

    def cut(self) -> None:
        """Close the connection abruptly."""
        self._end(clean=False)
        self._writer.close()

    async def _head(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.started = True
        lines = [f"HTTP/1.1 {status} {responses.get(status, 'Odd')}"]
        lines += [f"{name}: {value}" for name, value in headers]
        raw = "\r\n".join(lines).encode("latin-1") + HEAD_END
        self._record(Kind.HEAD, raw)
        await self.write(raw)

    def _end(self, *, clean: bool) -> None:
        if not self.ended:
            self.ended = True
            self._record(Kind.END, clean=clean)

    def _record(self, kind: Kind, raw: bytes = b"", **info: Any) -> None:
        self._recorder.record(Sender.DRIVER, self.channel, kind, raw, **info)
