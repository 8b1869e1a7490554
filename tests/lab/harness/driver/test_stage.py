"""A stream whose head the server sends with its first event."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from assay.lab.harness.driver.stage import Stage, open_server_stream
from assay.lab.harness.run.recording import Conditions, Recording, record
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.trace import NOT_RECEIVED
from assay.revisions.registry import HANDSHAKE

REVISION = HANDSHAKE[-1]
CHANGED = "notifications/tools/list_changed"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
REFUSAL = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
EVENT = b'data: {"jsonrpc":"2.0","method":"%b"}\n\n' % CHANGED.encode()

Wait = Callable[[Stage], Awaitable[Any]]


@dataclass
class Server:
    """Answers every POST at once. Sends `at_once` on a GET, and `later` on a request `tools/call`."""

    at_once: bytes = b""
    later: bytes = b""
    streams: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            self.streams.append(writer)
            self.send(self.at_once)
            return
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        message = json.loads(await reader.readexactly(length))
        if message["method"] == "tools/call":
            self.send(self.later)
        writer.write(_response(message))
        writer.close()

    def send(self, data: bytes) -> None:
        for stream in self.streams:
            stream.write(data)
            if data.startswith(REFUSAL):
                stream.close()


def _response(message: dict[str, Any]) -> bytes:
    if "id" not in message:
        return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    result = {"protocolVersion": REVISION.date} if message["method"] == "initialize" else {}
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


@asynccontextmanager
async def listening(server: Server) -> AsyncIterator[UrlSubject]:
    bound = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    try:
        yield UrlSubject(f"http://127.0.0.1:{bound.sockets[0].getsockname()[1]}/mcp")
    finally:
        bound.close()
        for stream in server.streams:
            stream.close()


async def recording_of(server: Server, drive: Wait) -> Recording:
    """With a patience far beyond the time limit of the tests, so that a wait for it would fail."""
    async with listening(server) as subject:
        return await record(
            "by hand", subject, REVISION, drive, Facts(REVISION.date), Conditions(patience=3600)
        )


async def wait_for_change(stage: Stage) -> tuple[bool, bool]:
    peer = await stage.open()
    is_open = await open_server_stream(stage, peer)
    await peer.request("tools/call")
    return is_open, await peer.wait_for(CHANGED, peer.server_stream) is not None


async def test_head_that_comes_with_the_first_event_is_not_awaited() -> None:
    recording = await recording_of(Server(later=STREAM + EVENT), wait_for_change)
    assert (recording.broken, recording.value) == (None, (True, True))
    (stream,) = [call for call in recording.trace.calls if call.sent.method == "GET"]
    assert stream.is_stream and len(stream.messages) == 1


async def test_head_that_never_comes_leaves_the_stream_without_one() -> None:
    async def drive(stage: Stage) -> bool:
        return await open_server_stream(stage, await stage.open())

    recording = await recording_of(Server(), drive)
    assert (recording.broken, recording.value) == (None, True)
    (stream,) = [call for call in recording.trace.calls if call.sent.method == "GET"]
    assert stream.head is None


async def test_prompt_refusal_is_known_before_the_scenario_continues() -> None:
    async def drive(stage: Stage) -> tuple[bool, int | None]:
        peer = await stage.open()
        head = await peer.wait_accepted(await peer.http.listen())
        return await open_server_stream(stage, peer), None if head is None else head.status

    assert (await recording_of(Server(at_once=REFUSAL), drive)).value == (False, 405)


async def test_late_refusal_ends_the_wait_without_a_mark() -> None:
    recording = await recording_of(Server(later=REFUSAL), wait_for_change)
    assert (recording.broken, recording.value) == (None, (True, False))
    assert not list(recording.trace.marks(NOT_RECEIVED))
