"""A recording HTTP/1.1 server on a free local port; a callback answers the requests."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from assay.lab.harness.links.connections import Connections
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import Flooded, Recorder

from .http_reply import HttpReply
from .inbound import Inbound

HOST: Final = "localhost"


class InboundRequest(Struct, frozen=True):
    """An HTTP request of the client."""

    head: Head
    body: bytes
    connection: Inbound

    @property
    def method(self) -> str:
        return self.head.method

    @property
    def path(self) -> str:
        return urlsplit(self.head.target).path or "/"

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.head.target).query, keep_blank_values=True))

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))

    def header(self, name: str) -> str | None:
        return self.head.get(name)


Serve = Callable[[InboundRequest, HttpReply], Awaitable[None]]


class HttpServer:
    """Records the frames of its requests on channels `<name>/<method>-<number>`."""

    def __init__(self, recorder: Recorder, serve: Serve, *, name: str, endpoint: str | None = None) -> None:
        self._recorder = recorder
        self._serve = serve
        self._name = name
        self._endpoint = endpoint
        """The path of the MCP endpoint, if this server has one."""
        self._counts: Counter[str] = Counter()
        self._connections = Connections(self._connected)
        self.port = 0
        self.fault: Exception | None = None
        """The first error of the callback: a bug in the lab, not a fault of the client."""

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    async def start(self, port: int = 0) -> str:
        """Start listening, on any free port by default, and return the origin.

        Listens on IPv4 and IPv6, because clients resolve `localhost` to either of them.
        """
        self.port = await self._connections.listen(port=port)
        with contextlib.suppress(OSError):
            await self._connections.listen("::1", self.port)
        return self.origin

    async def stop(self) -> None:
        await self._connections.stop()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inbound = Inbound(reader)
        try:
            with contextlib.suppress(ValueError, Flooded):
                while await self._exchange(inbound, writer):
                    pass
        finally:
            await inbound.close()

    async def _exchange(self, inbound: Inbound, writer: asyncio.StreamWriter) -> bool:
        """Serve a request; returns whether the connection stays open for another."""
        head, raw, body = await inbound.request()
        kind = head.method.lower() or "odd"
        self._counts[kind] += 1
        channel = f"{self._name}/{kind}-{self._counts[kind]}"
        request = InboundRequest(head, body, inbound)
        place = {} if request.path == self._endpoint else {"at": self._name}
        self._recorder.record(Sender.SUBJECT, channel, Kind.REQUEST, raw, **place)
        reply = HttpReply(
            writer, self._recorder, channel, inbound.disconnected, bodiless=head.method == "HEAD"
        )
        watching = asyncio.create_task(self._record_disconnect(reply))
        try:
            await self._answer(request, reply)
        finally:
            if not inbound.disconnected.is_set():  # otherwise it records the disconnection
                watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if not reply.started and not inbound.disconnected.is_set():
            await reply.respond(500, b"the scripted server has no answer to this request")
        return not inbound.disconnected.is_set() and (head.get("connection") or "").lower() != "close"

    async def _answer(self, request: InboundRequest, reply: HttpReply) -> None:
        try:
            await self._serve(request, reply)
        except (ConnectionError, Flooded):
            raise
        except Exception as fault:  # raised at the end of the run
            self.fault = self.fault or fault
            reply.started = True
            reply.cut()

    async def _record_disconnect(self, reply: HttpReply) -> None:
        await reply.disconnected.wait()
        if not reply.ended:
            self._recorder.record(Sender.SUBJECT, reply.channel, Kind.END, clean=False)
