"""A stream whose head the server keeps until it has something to say."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.run.recording import Conditions, Recording, play
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.trace import NOT_HEARD
from assay.revisions.registry import HANDSHAKE

REVISION = HANDSHAKE[-1]
CHANGED = "notifications/tools/list_changed"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
REFUSAL = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
EVENT = b'data: {"jsonrpc":"2.0","method":"%b"}\n\n' % CHANGED.encode()

Wait = Callable[[Stage], Awaitable[Any]]


@dataclass
class Server:
    """Answers every POST at once. To GET it says `at_once`; a request `tools/call` makes it say `later`."""

    at_once: bytes = b""
    later: bytes = b""
    streams: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            self.streams.append(writer)
            self.say(self.at_once)
            return
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        message = json.loads(await reader.readexactly(length))
        if message["method"] == "tools/call":
            self.say(self.later)
        writer.write(_response(message))
        writer.close()

    def say(self, data: bytes) -> None:
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


async def played(server: Server, drive: Wait) -> Recording:
    """With so much patience that waiting it out would fail by the time limit of the tests."""
    async with listening(server) as subject:
        return await play(
            "by hand", subject, REVISION, drive, Facts(REVISION.date), Conditions(patience=3600)
        )


async def hear_a_change(stage: Stage) -> tuple[bool, bool]:
    peer = await stage.open()
    hears = await open_ears(stage, peer)
    await peer.request("tools/call")
    return hears, await peer.hear(CHANGED, peer.ears) is not None


async def test_head_that_comes_with_the_first_event_is_not_waited_for() -> None:
    found = await played(Server(later=STREAM + EVENT), hear_a_change)
    assert (found.broken, found.value) == (None, (True, True))
    (stream,) = [call for call in found.trace.calls if call.sent.method == "GET"]
    assert stream.is_stream and len(stream.messages) == 1


async def test_head_that_never_comes_leaves_the_stream_without_one() -> None:
    async def drive(stage: Stage) -> bool:
        return await open_ears(stage, await stage.open())

    found = await played(Server(), drive)
    assert (found.broken, found.value) == (None, True)
    (stream,) = [call for call in found.trace.calls if call.sent.method == "GET"]
    assert stream.head is None


async def test_prompt_refusal_is_known_before_the_scenario_goes_on() -> None:
    async def drive(stage: Stage) -> tuple[bool, int | None]:
        peer = await stage.open()
        head = await peer.taken(await peer.http.listen())
        return await open_ears(stage, peer), None if head is None else head.status

    assert (await played(Server(at_once=REFUSAL), drive)).value == (False, 405)


async def test_late_refusal_ends_the_waiting_without_a_mark() -> None:
    found = await played(Server(later=REFUSAL), hear_a_change)
    assert (found.broken, found.value) == (None, (True, False))
    assert not list(found.trace.marks(NOT_HEARD))
