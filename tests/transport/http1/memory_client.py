"""A client for our HTTP server in memory: the test controls the client, the socket and the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple

import h11

from assay.model.limits import Limits
from assay.protocol.http.asgi import AsgiScope, Message, Receive, Transmit
from assay.transport.asgi.send import WholeResponseSend
from assay.transport.http1.connection import HttpConnection
from assay.transport.http1.server_state import ServerState
from tests.driving.answer import PATIENCE

App = Callable[[AsgiScope, Receive, Transmit], Awaitable[None]]
READ = 64 * 1024
"""Bytes of one read from a socket."""
HIGH, LOW = 64 * 1024, 16 * 1024
"""Unread bytes at which an asyncio transport pauses writing, and resumes it."""
ENDINGS = ("", "eof", "close", "abort")


class Wire(asyncio.Transport):
    """A socket in memory. The client reads everything, until `stop_reading`."""

    def __init__(self, *, half_closes: bool = True, tls: bool = False, peer: str = "10.0.0.1") -> None:
        secure = {"sslcontext": "some"} if tls else {}
        super().__init__({"peername": (peer, 50000), "sockname": ("10.0.0.2", 80), **secure})
        self.protocol: asyncio.Protocol
        self.written = b""
        self.reading = True
        self.ended = ""
        """How the server has closed it so far: by `eof`, `close` or `abort`."""
        self.lost = False
        self._half_closes = half_closes
        self._inbox = b""
        self._client_reads = True
        self._unread = 0
        self._paused = False

    # The client's side

    def deliver(self, data: bytes = b"") -> None:
        """Send to the server, which receives as much as it reads."""
        self._inbox += data
        while self._inbox and self.reading and not self.lost and self.ended in ("", "eof"):
            piece, self._inbox = self._inbox[:READ], self._inbox[READ:]
            self.protocol.data_received(piece)

    def hang_up(self) -> None:
        self._lose()

    def half_close(self) -> None:
        """Send nothing more, and read on."""
        if not self.protocol.eof_received():
            self.close()

    def stop_reading(self) -> None:
        self._client_reads = False

    def read(self, size: int | None = None) -> None:
        """Read so many bytes after `stop_reading`, or everything from now on."""
        self._client_reads = size is None
        self._unread -= self._unread if size is None else min(size, self._unread)
        if self._paused and self._unread <= LOW:
            self._paused = False
            self.protocol.resume_writing()
        if self.ended == "close" and not self._unread:
            self._lose()

    @property
    def owed(self) -> int:
        """Bytes that the server has not read yet."""
        return len(self._inbox)

    # The server's side

    def write(self, data: Any) -> None:
        assert not self.ended, "written after closing"
        self.written += data
        if not self._client_reads:
            self._unread += len(data)
            if self._unread > HIGH and not self._paused:
                self._paused = True
                self.protocol.pause_writing()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self.protocol = protocol

    def get_write_buffer_size(self) -> int:
        return self._unread

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True
        asyncio.get_running_loop().call_soon(self.deliver)

    def is_closing(self) -> bool:
        return self.lost or self.ended in ("close", "abort")

    def can_write_eof(self) -> bool:
        return self._half_closes

    def write_eof(self) -> None:
        self._end("eof")

    def close(self) -> None:
        self._end("close")
        if not self._unread:
            self._lose()

    def abort(self) -> None:
        self._end("abort")
        self._lose()

    def _end(self, how: str) -> None:
        self.ended = max(self.ended, how, key=ENDINGS.index)

    def _lose(self) -> None:
        if not self.lost:
            self.lost = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


class ClosableApp:
    """An application with the `close` that our server requires."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.closed = 0

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await self._app(scope, receive, send)

    async def close(self) -> None:
        self.closed += 1


class ParsedResponse(NamedTuple):
    """A response as parsed by h11."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes
    interim: tuple[int, ...] = ()


class MemoryClient:
    def __init__(self, app: App, *, half_closes: bool = True, tls: bool = False, **limits: Any) -> None:
        self.time = 1000.0
        self.server = ServerState(ClosableApp(app), Limits(**limits))
        self.server.clock.now = lambda: self.time
        self.server.clock.tick()
        self.wire, self.connection = self.connect(half_closes=half_closes, tls=tls)

    def connect(self, **options: Any) -> tuple[Wire, HttpConnection]:
        """Open another connection to the same server."""
        wire, connection = Wire(**options), HttpConnection(self.server)
        wire.protocol = connection
        connection.connection_made(wire)
        return wire, connection

    async def send(self, *pieces: bytes) -> MemoryClient:
        """Send, and let the server do everything that it can do now."""
        for piece in pieces:
            self.wire.deliver(piece)
        await settle()
        return self

    async def all_taken(self) -> None:
        """Wait until the server has read and served everything."""
        async with asyncio.timeout(PATIENCE):
            while self.wire.owed or self.connection._waiting:
                await settle()
        await settle()

    async def pass_time(self, seconds: float) -> None:
        """Advance the clock in one step, and sweep."""
        self.time += seconds
        self.server._sweep_timer.cancel()
        self.server._sweep()
        await settle()

    def answers(self, *methods: str) -> list[ParsedResponse]:
        """The responses to requests with these methods."""
        return read_answers(self.wire.written, methods, ended=bool(self.wire.ended))

    @property
    def answer(self) -> ParsedResponse:
        (answer,) = self.answers("POST")
        return answer

    async def leave(self) -> None:
        """Disconnect, and check that nothing is left behind."""
        self.wire.hang_up()
        async with asyncio.timeout(PATIENCE):
            await self.server.close(1.0)
        assert not self.server._connections
        assert not self.server._tasks


async def settle() -> None:
    """Run the event loop until it is idle."""
    loop = asyncio.get_running_loop()
    for _ in range(20):
        gone = asyncio.Event()
        loop.call_soon(gone.set)
        await gone.wait()


def read_answers(data: bytes, methods: Sequence[str], *, ended: bool) -> list[ParsedResponse]:
    client, answers = h11.Connection(h11.CLIENT), list[ParsedResponse]()
    if data:  # empty data would mean that the connection is closed
        client.receive_data(data)
    for method in methods:
        if answers and client.our_state is h11.MUST_CLOSE:
            break
        if answers:
            client.start_next_cycle()
        client.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
        client.send(h11.EndOfMessage())
        answer = _read_answer(client, ended)
        if answer is None:
            break
        answers.append(answer)
    assert client.trailing_data[0] == b"", client.trailing_data
    return answers


def _read_answer(client: h11.Connection, ended: bool) -> ParsedResponse | None:
    interim: list[int] = []
    head, body = None, b""
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA and ended and client.their_state is h11.SEND_BODY:
            client.receive_data(b"")
        elif event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed):
            assert head is None, f"incomplete response: {head} {body!r}"
            return None
        elif isinstance(event, h11.InformationalResponse):
            interim.append(event.status_code)
        elif isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        else:
            assert isinstance(event, h11.EndOfMessage)
            assert head is not None
            return ParsedResponse(head.status_code, _collect(head.headers), body, tuple(interim))


def _collect(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    headers: dict[bytes, bytes] = {}
    for name, value in pairs:
        assert name not in headers or name == b"set-cookie", f"header sent twice: {name!r}"
        headers[name] = headers[name] + b"; " + value if name in headers else value
    return headers


# Applications


async def read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        assert message["type"] == "http.request", message
        body += message["body"]
        more = message["more_body"]
    return body


def start(status: int = 200, *headers: tuple[bytes, bytes]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def part(body: bytes = b"", *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


def length(size: int) -> tuple[bytes, bytes]:
    return b"content-length", b"%d" % size


async def echo(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    body = await read_body(receive)
    await send(start(200, length(len(body))))
    await send(part(body))


async def echo_in_parts(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    """Responds while it reads, without a length."""
    await send(start(200))
    more = True
    while more:
        message = await receive()
        more = message["more_body"]
        await send(part(message["body"], more=True))
    await send(part())


def whole_send(send: Transmit) -> WholeResponseSend:
    """The `send` of our own server."""
    assert isinstance(send, WholeResponseSend)
    return send


async def echo_at_once(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    """Responds in one call, like Assay's own application."""
    ours = whole_send(send)
    whole = ours.take_whole_body()
    ours.respond(200, (), await read_body(receive) if whole is None else whole)


async def not_reached(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    raise AssertionError("not reached")


# Requests


def get(target: bytes = b"/", *lines: bytes, method: bytes = b"GET", version: bytes = b"1.1") -> bytes:
    return b"\r\n".join([b"%b %b HTTP/%b" % (method, target, version), b"host: localhost", *lines, b"", b""])


def post(body: bytes, *lines: bytes, target: bytes = b"/", version: bytes = b"1.1") -> bytes:
    return get(target, b"content-length: %d" % len(body), *lines, method=b"POST", version=version) + body


def chunked(*bodies: bytes, lines: Sequence[bytes] = (), trailers: Sequence[bytes] = ()) -> bytes:
    head = get(b"/", b"transfer-encoding: chunked", *lines, method=b"POST")
    cut = b"".join(b"%x\r\n%b\r\n" % (len(body), body) for body in bodies)
    return head + cut + b"0\r\n" + b"".join(b"%b\r\n" % line for line in trailers) + b"\r\n"
