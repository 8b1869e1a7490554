"""The two endpoints of the first revision: answers come on the stream, questions go where it says."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from assay.lab.harness.broken_off import Unreachable
from assay.lab.harness.facts import Facts
from assay.lab.harness.playing import Conditions, Played, play
from assay.lab.harness.stage import Stage
from assay.lab.harness.subject import UrlSubject
from assay.lab.harness.transport import Transport
from assay.revisions.registry import HANDSHAKE

OLDEST = HANDSHAKE[0]
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


class TwoEndpoints:
    """A server of the first revision with `initialize` and `ping`."""

    def __init__(self, first: bytes = b"event: endpoint\ndata: /messages?session=1\n\n") -> None:
        self._first = first
        self._stream: asyncio.StreamWriter | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /sse "):
            self._stream = writer
            writer.write(STREAM + self._first)
            if not self._first:
                writer.close()
            return
        assert head.startswith(b"POST /messages?session=1 ")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        message = json.loads(await reader.readexactly(length))
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted")
        writer.close()
        if "id" in message:
            self._answer(message)

    async def hang_up(self) -> None:
        if self._stream is not None:
            self._stream.close()
            await asyncio.gather(self._stream.wait_closed(), return_exceptions=True)

    def _answer(self, message: dict[str, object]) -> None:
        assert self._stream is not None
        server = {
            "protocolVersion": OLDEST.date,
            "capabilities": {},
            "serverInfo": {"name": "x", "version": "1"},
        }
        content = server if message["method"] == "initialize" else {}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": content})
        self._stream.write(f"event: message\ndata: {body}\n\n".encode())


@asynccontextmanager
async def serving(server: TwoEndpoints) -> AsyncIterator[UrlSubject]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield UrlSubject(f"http://127.0.0.1:{port}/sse", transport=Transport.HTTP_SSE)
    finally:
        listening.close()
        await server.hang_up()


async def talk(stage: Stage) -> int:
    peer = await stage.open()
    await peer.request("ping")
    return 1


async def played_against(server: TwoEndpoints) -> Played:
    async with serving(server) as subject:
        return await play("talk", subject, OLDEST, talk, Facts(OLDEST.date), Conditions(patience=5.0))


async def test_conversation_runs_over_both_endpoints() -> None:
    played = await played_against(TwoEndpoints())
    assert (played.value, played.broken) == (1, None)
    assert [(one.method, one.result is not None) for one in played.trace.exchanges()] == [
        ("initialize", True),
        ("ping", True),
        ("ping", True),
    ]
    assert played.trace.strays == ()


async def test_stream_that_names_no_endpoint_is_no_way_in() -> None:
    played = await played_against(TwoEndpoints(first=b""))
    assert isinstance(played.broken, Unreachable)


@pytest.mark.parametrize("target", ["ftp://x/", "http://x:port/", "http://elsewhere.example/messages"])
async def test_endpoint_that_cannot_be_reached_ends_the_conversation(target: str) -> None:
    played = await played_against(TwoEndpoints(first=f"event: endpoint\ndata: {target}\n\n".encode()))
    assert isinstance(played.broken, Unreachable)
