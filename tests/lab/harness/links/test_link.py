"""The state of a request in transit: answered, begun, ended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import NotListening, Unreachable
from assay.lab.harness.links.link import UNREACHABLE, note_unreachable
from assay.lab.harness.run.recording import Conditions, Recording, record
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
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


async def recording_of(blocks: bytes, *, ends: bool, patience: float) -> Recording:
    async def listen(stage: Stage) -> tuple[bool, bool, list[str]]:
        peer = await stage.connect()
        sent = await peer.http.listen()
        return await sent.begun(patience), await peer.http.follow(sent), sent.event_ids

    async with streaming(blocks, ends=ends) as subject:
        date = HANDSHAKE[-1]
        return await record("listen", subject, date, listen, Facts(date.date), Conditions(patience=patience))


async def test_stream_has_event_ids_and_an_end() -> None:
    recording = await recording_of(b"id: a\ndata: \n\n:\n\nid: b\ndata: {}\n\n", ends=True, patience=5.0)
    assert recording.value == (True, True, ["a", "b"])
    (call,) = recording.trace.calls
    assert call.is_stream and call.is_over
    assert not recording.trace.left_open


async def test_stream_that_does_not_end_is_marked() -> None:
    recording = await recording_of(b":\n\n", ends=False, patience=0.5)
    assert recording.value == (True, False, [])
    (call,) = recording.trace.calls
    assert not call.is_over
    assert recording.trace.left_open == {call.channel}


async def test_stream_without_events_has_not_begun() -> None:
    recording = await recording_of(b"", ends=False, patience=0.1)
    assert recording.value == (False, False, [])


class Marks(Recorder):
    def __init__(self) -> None:
        self.labels: list[str] = []

    def mark(self, channel: str, label: str, **info: Any) -> Frame:
        self.labels.append(label)
        return Frame(0, 0.0, Sender.DRIVER, channel, Kind.MARK)


@pytest.mark.parametrize(
    ("reason", "is_local", "labels"),
    [
        (NotListening("no connection: refused"), True, [UNREACHABLE]),
        (NotListening("no connection: refused"), False, []),
        # On a busy machine, a server that runs may accept a connection late.
        (Unreachable("no connection within 10 s"), True, []),
    ],
)
def test_only_a_refused_local_connection_shows_that_a_server_has_gone(
    reason: Unreachable, is_local: bool, labels: list[str]
) -> None:
    recorder = Marks()
    note_unreachable(recorder, "1", reason, is_local=is_local)
    assert recorder.labels == labels
