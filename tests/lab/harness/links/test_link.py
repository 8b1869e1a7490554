"""What is known of a body on its way: answered, begun, ended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.run.recording import Conditions, Recording, play
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import UrlSubject
from assay.revisions.registry import HANDSHAKE

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


@asynccontextmanager
async def streaming(blocks: bytes, *, ends: bool) -> AsyncIterator[UrlSubject]:
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writers.append(writer)
        writer.write(HEAD + blocks)
        if ends:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield UrlSubject(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp")
    finally:
        listening.close()
        for writer in writers:
            writer.close()


async def listened(blocks: bytes, *, ends: bool, patience: float) -> Recording:
    async def listen(stage: Stage) -> tuple[bool, bool, list[str]]:
        peer = await stage.connect()
        sent = await peer.http.listen()
        return await sent.begun(patience), await peer.http.follow(sent), sent.event_ids

    async with streaming(blocks, ends=ends) as subject:
        date = HANDSHAKE[-1]
        return await play("listen", subject, date, listen, Facts(date.date), Conditions(patience=patience))


async def test_stream_tells_its_event_ids_and_its_end() -> None:
    played = await listened(b"id: a\ndata: \n\n:\n\nid: b\ndata: {}\n\n", ends=True, patience=5.0)
    assert played.value == (True, True, ["a", "b"])
    (call,) = played.trace.calls
    assert call.is_stream and call.is_over
    assert not played.trace.left_open


async def test_stream_that_does_not_end_is_marked() -> None:
    played = await listened(b":\n\n", ends=False, patience=0.1)
    assert played.value == (True, False, [])
    (call,) = played.trace.calls
    assert not call.is_over
    assert played.trace.left_open == {call.channel}


async def test_stream_that_says_nothing_has_not_begun() -> None:
    played = await listened(b"", ends=False, patience=0.1)
    assert played.value == (False, False, [])
