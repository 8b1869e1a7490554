"""The mock server of a recording on standard streams, and on HTTP at a local port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from threading import Thread
from typing import Any, BinaryIO, Final, Protocol

import msgspec

from assay.lab.error import SubjectNotStarted
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.links.http_text import EVENT_STREAM, HEAD_END, JSON, Head
from assay.lab.harness.links.split import Lines
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import HttpServer, InboundRequest
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import Transport
from assay.model.error import PARSE_ERROR

from .bundle import ReplayBundle
from .options import ReplayOptions
from .playback import ANSWER, LISTEN, MockServer, RecordedReply
from .replay import selected

LONGEST_LINE: Final = 4 * 1024 * 1024
MOST_AT_ONCE: Final = 1000
PIECE: Final = 64 * 1024
PATH: Final = "/mcp"
SESSION: Final = "mcp-session-id"
_encode: Final = msgspec.json.Encoder().encode


def mock_server(bundle: ReplayBundle, options: ReplayOptions) -> MockServer:
    """
    Raises:
        InvalidOptions: the bundle has no such conversation.
    """
    return MockServer((bundle.traces[each.file] for each in selected(bundle, options)), options.timeout)


class Source(Protocol):
    """A stream such as an unbuffered file."""

    def read(self, size: int, /) -> bytes | None:
        """The bytes that are there, at least one; nothing at the end."""


async def serve_streams(server: MockServer, source: Source, sink: BinaryIO) -> None:
    """Serve a client on two streams, one message per line, until the first ends."""
    tasks: set[asyncio.Task[None]] = set()
    lines: asyncio.Queue[bytes] = asyncio.Queue(MOST_AT_ONCE)
    # A daemon: a thread that waits for input must not keep an interrupted process alive.
    Thread(target=_read_lines, args=(source, lines, asyncio.get_running_loop()), daemon=True).start()

    async def send(message: dict[str, Any] | None, block: bytes = b"") -> None:
        if message is not None:
            sink.write(_encode(message) + b"\n")
            sink.flush()

    while line := await lines.get():
        for message in await _messages(line, send):
            if "method" not in message:
                server.take_answer(message)
            elif "id" in message:
                tasks.add(asyncio.create_task(server.play(message, server.recorded(message), send)))
        tasks = {task for task in tasks if not task.done()}
        if len(tasks) > MOST_AT_ONCE:
            await asyncio.wait(tasks)
    if tasks:
        await asyncio.wait(tasks)


def _read_lines(source: Source, lines: asyncio.Queue[bytes], loop: asyncio.AbstractEventLoop) -> None:
    """Put the lines of a stream into a queue, and at the end nothing. Runs in a thread."""

    def put(line: bytes) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    splitter = Lines()
    while data := source.read(PIECE):
        for line in splitter.feed(data):
            put(line + b"\n")
        if len(splitter) > LONGEST_LINE:
            put(b"too long\n")  # answered as what is not JSON
            break
    put(b"")


async def _messages(line: bytes, send: Callable[[dict[str, Any]], Awaitable[None]]) -> list[dict[str, Any]]:
    """The messages of a line, one or those of a batch; a line that is not JSON is answered here."""
    if not line.strip():
        return []
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        error = {"code": PARSE_ERROR, "message": "the line is not JSON, or too long"}
        await send({"jsonrpc": "2.0", "id": None, "error": error})
        return []
    members = value if isinstance(value, list) else [value]
    return [member for member in members if isinstance(member, dict)]


@asynccontextmanager
async def serve_http(server: MockServer, port: int = 0) -> AsyncIterator[str]:
    """Serve clients on HTTP at this local port, or any free one; yields the URL.

    Raises:
        SubjectNotStarted: the port cannot be used.
    """
    recorder = _Unrecorded(Header("", Transport.HTTP, "", "replay", role="client"))
    http = HttpServer(recorder, HttpPlayback(server).serve, name="1", endpoint=PATH)
    try:
        origin = await http.start(port)
    except OSError as error:
        problem = f"cannot listen on port {port}: {error.strerror}"
        raise SubjectNotStarted(problem, "choose another with --port") from error
    try:
        yield origin + PATH
    finally:
        await http.stop()


class _Unrecorded(Recorder):
    """Keeps nothing: a mock server may run for long."""

    def record(self, sender: Sender, channel: str, kind: Kind, raw: bytes = b"", **info: Any) -> Frame:
        return Frame(0, 0.0, sender, channel, kind)


class HttpPlayback:
    def __init__(self, server: MockServer) -> None:
        self._server = server

    async def serve(self, request: InboundRequest, reply: HttpReply) -> None:
        """Only clients of this machine: a page in a browser must not read a recording."""
        host, origin = request.header("host") or "", request.header("origin")
        if not is_local(host) or (origin is not None and not is_local(origin.partition("//")[2])):
            return await reply.respond(403, b"only local clients are served")
        if request.path != PATH:
            return await reply.respond(404, b"the endpoint is " + PATH.encode())
        if request.method == "GET":
            return await self._listen(request, reply)
        if request.method == "DELETE":
            return await reply.respond(200)
        await self._post(request, reply)

    async def _listen(self, request: InboundRequest, reply: HttpReply) -> None:
        recorded = self._server.call(LISTEN)
        if EVENT_STREAM not in (request.header("accept") or ""):
            return await reply.respond(405, b"POST a message")
        if recorded is not None and not recorded.is_stream:
            return await self._repeat(recorded, request, reply)
        await self._stream(None if recorded is None else recorded.head, request, reply)
        for frame in recorded.received if recorded is not None else ():
            if frame.kind is Kind.EVENT:
                await reply.block(frame.raw)
        await request.connection.disconnected.wait()

    async def _post(self, request: InboundRequest, reply: HttpReply) -> None:
        problems: list[dict[str, Any]] = []

        async def refuse(problem: dict[str, Any]) -> None:
            problems.append(problem)

        messages = await _messages(request.body, refuse)
        requests = [message for message in messages if "method" in message and "id" in message]
        if problems or not messages:
            body = _encode(problems[0]) if problems else b""
            return await reply.respond(400, body, [("Content-Type", JSON)])
        if requests:
            return await self._answer(requests, request, reply)
        recorded = self._server.call(str(messages[0].get("method", ANSWER)))
        await (self._repeat(recorded, request, reply) if recorded is not None else reply.respond(202))
        for message in messages:
            if "method" not in message:
                self._server.take_answer(message)

    async def _answer(
        self, messages: list[dict[str, Any]], request: InboundRequest, reply: HttpReply
    ) -> None:
        pairs = [(message, self._server.recorded(message)) for message in messages]
        first = pairs[0][1]
        head = None if first is None else first.head
        if len(pairs) > 1 or (first is not None and _streams(first)):
            await self._stream(head, request, reply)
            for message, recorded in pairs:
                await self._server.play(
                    message, recorded, lambda each, block: reply.block(block or _event(each))
                )
            return await reply.end()
        answers: list[dict[str, Any] | None] = []

        async def keep(answer: dict[str, Any] | None, block: bytes) -> None:
            answers.append(answer)

        await self._server.play(messages[0], first, keep)
        await self._respond(head, _encode(answers[-1]), request, reply)

    async def _repeat(self, call: Call, request: InboundRequest, reply: HttpReply) -> None:
        await self._respond(call.head, call.body, request, reply)

    async def _respond(
        self, head: Head | None, body: bytes, request: InboundRequest, reply: HttpReply
    ) -> None:
        if head is None or not head.status or head.media_type == EVENT_STREAM:
            headers = [("Content-Type", JSON)] if body else []
            return await reply.respond(200 if body else 202, body, headers)
        reply.started = reply.ended = True
        await reply.write(_head(head, request, len(body)) + body)

    async def _stream(self, head: Head | None, request: InboundRequest, reply: HttpReply) -> None:
        """Begin an event stream, with the recorded head if there is one."""
        if head is None or "chunked" not in (head.get("transfer-encoding") or "").lower():
            session = None if head is None else head.get(SESSION)
            return await reply.stream([] if session is None else [("Mcp-Session-Id", session)])
        reply.started = reply.streaming = True
        await reply.write(_head(head, request, None))


def _head(head: Head, request: InboundRequest, length: int | None) -> bytes:
    """A recorded head for a body of this length."""
    closes = (request.header("connection") or "").lower() == "close"
    lines = [" ".join(head.start)]
    for name, value in head.headers:
        if name.lower() == "content-length":
            value = str(length)
        if name.lower() != "connection" or closes:
            lines.append(f"{name}: {value}")
    return "\r\n".join(lines).encode("latin-1") + HEAD_END


def _streams(reply: RecordedReply) -> bool:
    was_stream = reply.head is not None and reply.head.media_type == EVENT_STREAM
    return was_stream or len(reply.parts) > 1


def _event(message: dict[str, Any] | None) -> bytes:
    return b"event: message\ndata: " + _encode(message) + b"\n\n"
