"""WebSocket connections of our server: the test controls the socket, the application and the clock."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Limits
from assay.protocol.framing.websocket import (
    BINARY,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    Close,
    Frame,
    FrameReader,
    close_frame,
    frame,
    read_close,
)
from assay.protocol.http.upgrade import Upgrade
from assay.transport.http1.server_state import ServerState
from assay.transport.http1.websocket import WebSocketConnection
from assay.transport.http1.websocket_state import CLOSE_TIMEOUT, QUEUE_BYTES
from tests.driving.answer import PATIENCE

MASK = b"mask"
SCOPE = {"type": "http", "method": "GET", "scheme": "http", "path": "/mcp/ws", "headers": [], "root_path": ""}
UPGRADE = Upgrade(b"dGhlIHNhbXBsZSBub25jZQ==", ("mcp",))
ACCEPT = {"type": "websocket.accept", "subprotocol": "mcp"}


class Wire(asyncio.Transport):
    """A transport that records its output; the test decides whether the client reads it."""

    def __init__(self, *, half_closes: bool = True) -> None:
        super().__init__()
        self.written = b""
        self.reading = True
        self.ended = ""
        """How it was closed: by `eof`, `close` or `abort`."""
        self.protocol: asyncio.Protocol
        self._half_closes = half_closes

    def write(self, data: Any) -> None:
        assert not self.ended, "written after closing"
        self.written += data

    def get_write_buffer_size(self) -> int:
        return len(self.written)

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True

    def can_write_eof(self) -> bool:
        return self._half_closes

    def write_eof(self) -> None:
        self.ended = "eof"

    def close(self) -> None:
        self.ended = "close"

    def abort(self) -> None:
        self.ended = "abort"
        self.protocol.connection_lost(None)


class Harness:
    """A connection with its application and its client."""

    def __init__(self, *, rest: bytes = b"", half_closes: bool = True, **limits: Any) -> None:
        self.time = 0.0
        self.server = ServerState(cast(Any, self._app), Limits(**limits))
        self.server.clock.now = lambda: self.time
        self.wire = Wire(half_closes=half_closes)
        self.connection = WebSocketConnection(self.server, self.wire, SCOPE, UPGRADE, rest)
        self.wire.protocol = self.connection
        self.server.admit(self.connection)
        self.scope: Any = None
        self.receive: Callable[[], Awaitable[Any]]
        self.send: Callable[[Any], Awaitable[None]]
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._begun = asyncio.Event()
        self._frames = FrameReader(1 << 30)
        self.connection.begin()
        assert self.connection._task is not None
        self._task = self.connection._task

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self._begun.set()
        await self.outcome

    async def begun(self) -> Harness:
        async with asyncio.timeout(PATIENCE):
            await self._begun.wait()
        assert await self.receive() == {"type": "websocket.connect"}
        return self

    async def opened(self) -> Harness:
        await self.begun()
        await self.send(ACCEPT)
        self.head = self.wire.written
        self.wire.written = b""
        return self

    def feed(self, opcode: int, payload: bytes = b"", **options: Any) -> None:
        self.connection.data_received(frame(opcode, payload, mask=MASK, **options))

    def frames(self) -> list[Any]:
        """The frames that the client received since the last call."""
        written, self.wire.written = self.wire.written, b""
        return self._frames.feed(written)

    def closing(self) -> Close:
        (frame,) = self.frames()
        close = read_close(frame.payload)
        assert isinstance(close, Close)
        return close

    def pass_time(self, seconds: float) -> None:
        self.time += seconds
        if self.connection.deadline <= self.time:
            self.connection.expire()

    async def end(self) -> None:
        """Make the application return."""
        if not self.outcome.done():
            self.outcome.set_result(None)
        await asyncio.wait([self._task])
        self.server._sweep_timer.cancel()


async def test_application_accepts_the_client() -> None:
    harness = await Harness(rest=frame(TEXT, b"early", mask=MASK)).opened()
    assert harness.head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
    lines = harness.head.split(b"\r\n")
    assert {
        b"upgrade: websocket",
        b"connection: Upgrade",
        b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        b"sec-websocket-protocol: mcp",
    } <= {*lines}
    assert harness.head.endswith(b"\r\n\r\n")
    assert (harness.scope["type"], harness.scope["scheme"]) == ("websocket", "ws")
    assert (harness.scope["subprotocols"], "method" in harness.scope) == (["mcp"], False)
    # The first message arrived together with the upgrade.
    assert await harness.receive() == {"type": "websocket.receive", "text": "early"}
    await harness.end()
    assert harness.closing().code == 1000


async def test_nothing_is_read_before_the_client_is_accepted() -> None:
    harness = await Harness().begun()
    assert not harness.wire.reading
    await harness.send(ACCEPT)
    assert harness.wire.reading
    await harness.end()


async def test_application_may_add_headers_but_no_lines() -> None:
    harness = await Harness().begun()
    await harness.send({"type": "websocket.accept", "headers": [(b"x-more", b"yes")]})
    assert b"\r\nx-more: yes\r\n" in harness.wire.written
    assert b"sec-websocket-protocol" not in harness.wire.written
    await harness.end()
    other = await Harness().begun()
    with pytest.raises(ValueError, match="line break"):
        await other.send({"type": "websocket.accept", "headers": [(b"x-more", b"yes\r\nx-evil: 1")]})
    await other.end()


async def test_refused_client_gets_the_applications_response() -> None:
    harness = await Harness().begun()
    headers = [(b"content-length", b"2")]
    await harness.send({"type": "websocket.http.response.start", "status": 421, "headers": headers})
    await harness.send({"type": "websocket.http.response.body", "body": b"n", "more_body": True})
    await harness.send({"type": "websocket.http.response.body", "body": b"o"})
    assert harness.wire.written.startswith(b"HTTP/1.1 421 ")
    assert b"\r\nconnection: close\r\n" in harness.wire.written
    assert harness.wire.written.endswith(b"\r\n\r\nno")
    assert (harness.wire.ended, harness.wire.reading) == ("eof", True)
    harness.connection.data_received(b"nobody listens")
    await harness.end()
    harness.pass_time(CLOSE_TIMEOUT)
    assert harness.wire.ended == "abort"


async def test_close_before_accept_is_a_403() -> None:
    harness = await Harness().begun()
    await harness.send({"type": "websocket.close"})
    assert harness.wire.written.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    await harness.end()


async def test_application_that_fails_before_it_decides_is_a_500(caplog: pytest.LogCaptureFixture) -> None:
    harness = await Harness().begun()
    harness.outcome.set_exception(RuntimeError("ours"))
    with caplog.at_level(logging.ERROR, "assay.http"):
        await harness.end()
    assert harness.wire.written.startswith(b"HTTP/1.1 500 ")
    assert "ours" in caplog.text


async def test_application_that_stops_in_the_middle_of_a_refusal_is_cut_off() -> None:
    harness = await Harness().begun()
    await harness.send({"type": "websocket.http.response.start", "status": 400})
    await harness.end()
    assert harness.wire.ended == "abort"


async def test_application_that_fails_later_closes_with_1011(caplog: pytest.LogCaptureFixture) -> None:
    harness = await Harness().opened()
    harness.outcome.set_exception(RuntimeError("ours"))
    with caplog.at_level(logging.ERROR, "assay.http"):
        await harness.end()
    assert harness.closing().code == 1011


@pytest.mark.parametrize(
    "message",
    [
        {"type": "websocket.send", "text": "x"},
        {"type": "websocket.http.response.body", "body": b""},
        {"type": "http.response.start", "status": 200},
    ],
)
async def test_message_out_of_order_is_the_applications_mistake(message: Any) -> None:
    harness = await Harness().begun()
    with pytest.raises(RuntimeError, match="out of order"):
        await harness.send(message)
    await harness.send(ACCEPT)
    with pytest.raises(RuntimeError, match="out of order"):
        await harness.send(ACCEPT)
    await harness.end()


async def test_messages_go_both_ways() -> None:
    harness = await Harness().opened()
    harness.feed(TEXT, "ü".encode())
    harness.feed(BINARY, b"\xff")
    assert await harness.receive() == {"type": "websocket.receive", "text": "ü"}
    assert await harness.receive() == {"type": "websocket.receive", "bytes": b"\xff"}
    waiting = asyncio.ensure_future(harness.receive())
    await asyncio.wait([waiting], timeout=0)
    harness.feed(TEXT, b"later")
    assert await waiting == {"type": "websocket.receive", "text": "later"}
    await harness.send({"type": "websocket.send", "text": "ü"})
    await harness.send({"type": "websocket.send", "bytes": b"\xff"})
    assert harness.frames() == [Frame(TEXT, "ü".encode()), Frame(BINARY, b"\xff")]
    await harness.end()


async def test_pings_are_answered_even_between_fragments() -> None:
    harness = await Harness().opened()
    harness.feed(TEXT, b"one ", fin=False)
    harness.feed(PING, b"are you there")
    harness.feed(CONTINUATION, b"two")
    harness.feed(PONG, b"nobody asked")
    assert harness.frames() == [Frame(PONG, b"are you there")]
    assert await harness.receive() == {"type": "websocket.receive", "text": "one two"}
    await harness.end()


async def test_unread_messages_pause_reading() -> None:
    harness = await Harness().opened()
    fed = 0
    while harness.wire.reading:
        harness.feed(TEXT, b"x" * 1000)
        fed += 1
        assert fed * 1000 < 2 * QUEUE_BYTES
    for _ in range(fed):
        assert not harness.wire.reading
        assert (await harness.receive())["text"] == "x" * 1000
    assert harness.wire.reading
    await harness.end()


async def test_empty_messages_pause_reading() -> None:
    harness = await Harness().opened()
    for _ in range(QUEUE_BYTES // 100):
        harness.feed(TEXT)
    assert not harness.wire.reading
    await harness.end()


@given(payloads=st.lists(st.text(max_size=300), max_size=8), cuts=st.lists(st.integers(0, 3000), max_size=6))
def test_messages_do_not_depend_on_chunking(payloads: list[str], cuts: list[int]) -> None:
    async def main() -> None:
        harness = await Harness().opened()
        data = b"".join(frame(TEXT, text.encode(), mask=MASK) for text in payloads)
        edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
        for start, end in itertools.pairwise(edges):
            harness.connection.data_received(data[start:end])
        assert [(await harness.receive())["text"] for _ in payloads] == payloads
        await harness.end()

    asyncio.run(main())


# Closing


@pytest.mark.parametrize("code", [1000, 1001, 4000])
async def test_clients_close_is_answered_with_its_code(code: int) -> None:
    harness = await Harness().opened()
    harness.feed(TEXT, b"last words")
    harness.connection.data_received(close_frame(code, "done", MASK))
    assert harness.closing() == Close(code, "")
    assert harness.wire.ended == "close"
    assert (await harness.receive())["text"] == "last words"
    gone = {"type": "websocket.disconnect", "code": code, "reason": "done"}
    assert await harness.receive() == await harness.receive() == gone
    with pytest.raises(OSError):
        await harness.send({"type": "websocket.send", "text": "too late"})
    await harness.end()


async def test_close_without_a_code_is_answered_without_one() -> None:
    harness = await Harness().opened()
    harness.connection.data_received(frame(8, b"", mask=MASK))
    assert harness.frames() == [Frame(8, b"")]
    assert (await harness.receive())["code"] == 1005
    await harness.end()


async def test_servers_close_waits_for_the_answer() -> None:
    harness = await Harness().opened()
    harness.feed(TEXT, b"never taken")
    await harness.send({"type": "websocket.close", "code": 1003, "reason": "text only"})
    assert harness.closing() == Close(1003, "text only")
    assert not harness.wire.ended
    harness.feed(TEXT, b"never taken either")
    assert (await harness.receive())["type"] == "websocket.disconnect"
    harness.connection.data_received(close_frame(1003, "", MASK))
    assert (harness.frames(), harness.wire.ended) == ([], "close")
    await harness.end()


async def test_client_that_does_not_answer_a_close_is_cut_off() -> None:
    harness = await Harness().opened()
    await harness.send({"type": "websocket.close"})
    harness.pass_time(CLOSE_TIMEOUT - 1)
    assert not harness.wire.ended
    harness.pass_time(1)
    assert harness.wire.ended == "abort"
    await harness.end()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(TEXT, b"no mask"), 1002),
        (frame(TEXT, b"\xff", mask=MASK), 1007),
        (frame(TEXT, b"x" * 101, mask=MASK), 1009),
        (frame(TEXT, b"x", rsv=4, mask=MASK), 1002),
        (frame(3, b"", mask=MASK), 1002),
        (frame(CONTINUATION, b"", mask=MASK), 1002),
        (frame(PING, b"", fin=False, mask=MASK), 1002),
    ],
)
@pytest.mark.parametrize("half_closes", [True, False], ids=["tcp", "tls"])
async def test_protocol_error_is_closed_with_a_reason(data: bytes, code: int, half_closes: bool) -> None:
    harness = await Harness(message_bytes=100, half_closes=half_closes).opened()
    harness.connection.data_received(data + frame(TEXT, b"ignored", mask=MASK))
    assert harness.closing().code == code
    # It may still be sending: a reset could overtake the close frame.
    assert harness.wire.ended == ("eof" if half_closes else "close")
    assert (await harness.receive())["code"] == code
    harness.connection.data_received(b"ignored")
    harness.pass_time(CLOSE_TIMEOUT)
    assert harness.wire.ended == "abort"
    await harness.end()


async def test_broken_connection_is_a_disconnect() -> None:
    harness = await Harness().opened()
    waiting = asyncio.ensure_future(harness.receive())
    await asyncio.wait([waiting], timeout=0)
    harness.connection.connection_lost(ConnectionResetError())
    assert await waiting == {"type": "websocket.disconnect", "code": 1006, "reason": ""}
    with pytest.raises(OSError):
        await harness.send({"type": "websocket.send", "text": "x"})
    assert not harness.server._connections
    await harness.end()


async def test_stopping_server_closes_open_connections() -> None:
    harness = await Harness().opened()
    harness.connection.finish()
    assert harness.closing() == Close(1001, "the server is stopping")
    await harness.end()


# Time and congestion


async def test_silent_client_is_pinged_and_cut_off_when_it_stays_silent() -> None:
    harness = await Harness(ping_interval=20.0, ping_timeout=10.0).opened()
    harness.pass_time(19)
    assert harness.frames() == []
    harness.pass_time(1)
    assert harness.frames() == [Frame(PING, b"")]
    harness.pass_time(9)
    assert not harness.wire.ended
    harness.pass_time(1)
    assert harness.wire.ended == "abort"
    assert (await harness.receive())["code"] == 1006
    await harness.end()


async def test_any_input_restarts_the_ping_timer() -> None:
    harness = await Harness(ping_interval=20.0, ping_timeout=10.0).opened()
    for sign in (PONG, TEXT, PING):
        harness.pass_time(20)
        assert Frame(PING, b"") in harness.frames()
        harness.feed(sign)
        harness.pass_time(10)
        assert not harness.wire.ended
    harness.feed(TEXT, b"talking")
    harness.frames()
    harness.pass_time(20)
    assert harness.frames() == []
    await harness.end()


async def test_pings_can_be_switched_off() -> None:
    harness = await Harness(ping_interval=None).opened()
    harness.pass_time(100_000)
    assert (harness.frames(), harness.wire.ended) == ([], "")
    await harness.end()


async def test_send_waits_while_the_client_does_not_read() -> None:
    harness = await Harness().opened()
    harness.connection.pause_writing()
    sending = asyncio.ensure_future(harness.send({"type": "websocket.send", "text": "x"}))
    await asyncio.wait([sending], timeout=0)
    assert (sending.done(), harness.frames()) == (False, [])
    harness.connection.resume_writing()
    await sending
    assert harness.frames() == [Frame(TEXT, b"x")]
    await harness.end()


async def test_text_is_sent_at_once_or_not_at_all() -> None:
    harness = await Harness().begun()
    assert not harness.connection.try_send_text(b"not yet")
    await harness.send(ACCEPT)
    harness.wire.written = b""
    assert harness.connection.try_send_text(b"now")
    harness.connection.pause_writing()
    assert not harness.connection.try_send_text(b"not now")
    assert harness.frames() == [Frame(TEXT, b"now")]
    harness.connection.connection_lost(None)
    assert not harness.connection.try_send_text(b"no more")
    await harness.end()


async def test_send_that_waits_ends_with_the_connection() -> None:
    harness = await Harness().opened()
    harness.connection.pause_writing()
    sending = asyncio.ensure_future(harness.send({"type": "websocket.send", "text": "x"}))
    await asyncio.wait([sending], timeout=0)
    harness.connection.connection_lost(None)
    with pytest.raises(OSError):
        await sending
    await harness.end()


async def test_client_that_does_not_read_for_too_long_is_cut_off() -> None:
    harness = await Harness(write_timeout=30.0, ping_interval=5.0).opened()
    harness.connection.pause_writing()
    harness.pass_time(29)
    assert not harness.wire.ended
    harness.pass_time(1)
    assert harness.wire.ended == "abort"
    await harness.end()


async def test_close_does_not_wait_for_a_client_that_does_not_read() -> None:
    harness = await Harness(write_timeout=1000.0).opened()
    harness.connection.pause_writing()
    await harness.send({"type": "websocket.close", "code": 1008, "reason": "slow"})
    assert harness.closing() == Close(1008, "slow")
    harness.pass_time(CLOSE_TIMEOUT)
    assert harness.wire.ended == "abort"
    await harness.end()


async def test_pings_of_a_client_that_does_not_read_are_answered_once() -> None:
    """Otherwise the pongs would pile up in memory."""
    harness = await Harness().opened()
    harness.connection.pause_writing()
    for number in range(1000):
        harness.feed(PING, b"%d" % number)
    assert harness.frames() == []
    harness.connection.resume_writing()
    assert harness.frames() == [Frame(PONG, b"999")]
    await harness.end()
