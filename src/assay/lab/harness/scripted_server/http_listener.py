"""The scripted server's Streamable HTTP endpoint."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, Final

import msgspec

from assay.lab.harness.links.http_text import JSON
from assay.model.error import PARSE_ERROR
from assay.protocol.framing import sse

from .answer import Json
from .http_reply import HttpReply
from .http_server import InboundRequest
from .listener import Listener
from .request_cycle import RequestCycle, encode
from .server import ScriptedServer

SESSION: Final = "Mcp-Session-Id"
_TYPE: Final = ("Content-Type", JSON)


class HttpChannel:
    """A response of the endpoint."""

    def __init__(self, reply: HttpReply, connection: str, *, streams: bool, headers: list[Any]) -> None:
        self.connection = connection
        self.disconnected = reply.disconnected
        self.http = reply
        self._streams = streams
        self._headers = headers

    async def send(self, body: bytes) -> None:
        if not self.http.started:
            await self.http.stream(self._headers)
        await self.http.block(sse.event(body))

    async def raw(self, data: bytes) -> None:
        if not self.http.started:
            await self.http.stream(self._headers)
        await self.http.block(data)

    async def reply(self, body: bytes, status: int | None = None) -> None:
        if self.http.started or (self._streams and status is None):
            await self.send(body)
            await self.http.end()
        else:
            await self.http.respond(status or 200, body, [_TYPE, *self._headers])

    async def finish(self) -> None:
        if self.http.streaming:
            await self.http.end()

    def cut(self) -> None:
        self.http.cut()


class HttpListener(Listener):
    def __init__(self, server: ScriptedServer, path: str, *, name: str = "1") -> None:
        super().__init__(server, path, name=name, endpoint=path or "/")
        self._name = name

    @property
    def url(self) -> str:
        return f"{self.origin}{self._path}"

    async def answer(self, request: InboundRequest, reply: HttpReply) -> None:
        if self.is_other_path(request):
            await reply.respond(404)
        elif self._is_unknown_session(request):
            await reply.respond(404 if request.header(SESSION) else 400)
        else:
            await _METHODS.get(request.method, HttpListener._no_method)(self, request, reply)

    def _is_unknown_session(self, request: InboundRequest) -> bool:
        """Whether the request names a session other than the current one; `initialize` needs none."""
        if not self._server.sessions or b'"initialize"' in request.body:
            return False
        return request.header(SESSION) != self._server.session

    async def _no_method(self, request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(405, b"", [("Allow", "POST")])

    async def _get(self, request: InboundRequest, reply: HttpReply) -> None:
        if not self._server.standalone:
            return await self._no_method(request, reply)
        await reply.stream()
        channel = HttpChannel(reply, self._name, streams=True, headers=[])
        self._server.attach(channel)
        try:
            await reply.disconnected.wait()
        finally:
            self._server.detach(channel)

    async def _delete(self, request: InboundRequest, reply: HttpReply) -> None:
        if not self._server.sessions:
            return await self._no_method(request, reply)
        self._server.session = None
        return await reply.respond(200)

    async def _post(self, request: InboundRequest, reply: HttpReply) -> None:
        try:
            value = msgspec.json.decode(request.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            error = {"code": PARSE_ERROR, "message": "not JSON"}
            await reply.respond(400, encode({"jsonrpc": "2.0", "id": None, "error": error}), [_TYPE])
            return
        values = value if isinstance(value, list) else [value]
        messages = [message for message in values if isinstance(message, dict)]
        if not any("method" in message and "id" in message for message in messages):
            for message in messages:
                await self._server.receive(self._cycle(message, request, reply))
            return None if reply.started else await reply.respond(202)
        if isinstance(value, list):
            await self._batch(messages, request, reply)
        else:
            await self._server.receive(self._cycle(value, request, reply))
        return None

    async def _batch(self, messages: list[Json], request: InboundRequest, reply: HttpReply) -> None:
        """Send every answer on the same stream."""
        await reply.stream(self._headers(messages[0]))
        cycles = [
            RequestCycle(self._server, message, _BatchMember(self._channel(reply, message)), request)
            for message in messages
        ]
        await asyncio.gather(*(self._server.receive(cycle) for cycle in cycles))
        await reply.end()

    def _cycle(self, message: Json, request: InboundRequest, reply: HttpReply) -> RequestCycle:
        return RequestCycle(self._server, message, self._channel(reply, message), request)

    def _channel(self, reply: HttpReply, message: Json) -> HttpChannel:
        headers = self._headers(message)
        return HttpChannel(reply, self._name, streams=self._server.streams, headers=headers)

    def _headers(self, message: Json) -> list[tuple[str, str]]:
        if not self._server.sessions or message.get("method") != "initialize":
            return []
        self._server.session = secrets.token_hex(16)
        return [(SESSION, self._server.session)]


class _BatchMember:
    """The channel of a message in a batch: its answer does not end the response."""

    def __init__(self, inner: HttpChannel) -> None:
        self.connection = inner.connection
        self.disconnected = inner.disconnected
        self.send = inner.send
        self.raw = inner.raw
        self.cut = inner.cut

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)

    async def finish(self) -> None: ...


_METHODS: Final = {"GET": HttpListener._get, "POST": HttpListener._post, "DELETE": HttpListener._delete}
