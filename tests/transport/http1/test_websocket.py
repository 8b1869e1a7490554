"""The server's end of a WebSocket: the test plays the socket and the application, and moves the clock."""

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
from assay.transport.http1.websocket import CLOSE_TIMEOUT, QUEUE_BYTES, WebSocketConnection
from tests.driving.answer import PATIENCE

MASK = b"mask"
SCOPE = {"type": "http", "method": "GET", "scheme": "http", "path": "/mcp/ws", "headers": [], "root_path": ""}
UPGRADE = Upgrade(b"dGhlIHNhbXBsZSBub25jZQ==", ("mcp",))
ACCEPT = {"type": "websocket.accept", "subprotocol": "mcp"}


class Wire(asyncio.Transport):
    """A transport that keeps what is written; the test decides whether the client reads it."""

    def __init__(self, *, half_closes: bool = True) -> None:
        super().__init__()
        self.written = b""
        self.reading = True
        self.ended = ""
        """How it ended: by `eof`, `close` or `abort`."""
        self.protocol: asyncio.Protocol
        self._half_closes = half_closes

    def write(self, data: Any) -> None:
        assert not self.ended, "written to after the end"
        self.written += data

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


class Party:
    """A connection, the application behind it and the client before it."""

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

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self._begun.set()
        await self.outcome

    async def begun(self) -> Party:
        async with asyncio.timeout(PATIENCE):
            await self._begun.wait()
        assert await self.receive() == {"type": "websocket.connect"}
        return self

    async def opened(self) -> Party:
        await self.begun()
        await self.send(ACCEPT)
        self.head = self.wire.written
        self.wire.written = b""
        return self

    def feed(self, opcode: int, payload: bytes = b"", **options: Any) -> None:
        self.connection.data_received(frame(opcode, payload, mask=MASK, **options))

    def frames(self) -> list[Any]:
        """What the client has got since the last look."""
        written, self.wire.written = self.wire.written, b""
        return self._frames.feed(written)

    def closing(self) -> Close:
        (one,) = self.frames()
        close = read_close(one.payload)
        assert isinstance(close, Close)
        return close

    def pass_time(self, seconds: float) -> None:
        self.time += seconds
        if self.connection.deadline <= self.time:
            self.connection.expire()

    async def end(self) -> None:
        """The application returns."""
        if not self.outcome.done():
            self.outcome.set_result(None)
        assert self.connection._task is not None
        await asyncio.wait([self.connection._task])
        self.server._sweep_timer.cancel()


async def test_application_lets_the_client_in() -> None:
    party = await Party(rest=frame(TEXT, b"early", mask=MASK)).opened()
    assert party.head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
    lines = party.head.split(b"\r\n")
    assert {
        b"upgrade: websocket",
        b"connection: Upgrade",
        b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        b"sec-websocket-protocol: mcp",
    } <= {*lines}
    assert party.head.endswith(b"\r\n\r\n")
    assert (party.scope["type"], party.scope["scheme"]) == ("websocket", "ws")
    assert (party.scope["subprotocols"], "method" in party.scope) == (["mcp"], False)
    # What had come with the upgrade is the first message.
    assert await party.receive() == {"type": "websocket.receive", "text": "early"}
    await party.end()
    assert party.closing().code == 1000


async def test_nothing_is_read_before_the_client_is_let_in() -> None:
    party = await Party().begun()
    assert not party.wire.reading
    await party.send(ACCEPT)
    assert party.wire.reading
    await party.end()


async def test_application_may_add_headers_but_no_lines() -> None:
    party = await Party().begun()
    await party.send({"type": "websocket.accept", "headers": [(b"x-more", b"yes")]})
    assert b"\r\nx-more: yes\r\n" in party.wire.written
    assert b"sec-websocket-protocol" not in party.wire.written
    await party.end()
    other = await Party().begun()
    with pytest.raises(ValueError, match="line break"):
        await other.send({"type": "websocket.accept", "headers": [(b"x-more", b"yes\r\nx-evil: 1")]})
    await other.end()


async def test_refused_client_gets_the_applications_response() -> None:
    party = await Party().begun()
    headers = [(b"content-length", b"2")]
    await party.send({"type": "websocket.http.response.start", "status": 421, "headers": headers})
    await party.send({"type": "websocket.http.response.body", "body": b"n", "more_body": True})
    await party.send({"type": "websocket.http.response.body", "body": b"o"})
    assert party.wire.written.startswith(b"HTTP/1.1 421 ")
    assert b"\r\nconnection: close\r\n" in party.wire.written
    assert party.wire.written.endswith(b"\r\n\r\nno")
    assert (party.wire.ended, party.wire.reading) == ("eof", True)
    party.connection.data_received(b"nobody listens")
    await party.end()
    party.pass_time(CLOSE_TIMEOUT)
    assert party.wire.ended == "abort"


async def test_client_that_is_only_closed_gets_403() -> None:
    party = await Party().begun()
    await party.send({"type": "websocket.close"})
    assert party.wire.written.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    await party.end()


async def test_application_that_fails_before_it_decides_is_a_500(caplog: pytest.LogCaptureFixture) -> None:
    party = await Party().begun()
    party.outcome.set_exception(RuntimeError("ours"))
    with caplog.at_level(logging.ERROR, "assay.http"):
        await party.end()
    assert party.wire.written.startswith(b"HTTP/1.1 500 ")
    assert "ours" in caplog.text


async def test_application_that_stops_in_the_middle_of_a_refusal_is_cut_off() -> None:
    party = await Party().begun()
    await party.send({"type": "websocket.http.response.start", "status": 400})
    await party.end()
    assert party.wire.ended == "abort"


async def test_application_that_fails_later_closes_with_1011(caplog: pytest.LogCaptureFixture) -> None:
    party = await Party().opened()
    party.outcome.set_exception(RuntimeError("ours"))
    with caplog.at_level(logging.ERROR, "assay.http"):
        await party.end()
    assert party.closing().code == 1011


@pytest.mark.parametrize(
    "message",
    [
        {"type": "websocket.send", "text": "x"},
        {"type": "websocket.http.response.body", "body": b""},
        {"type": "http.response.start", "status": 200},
    ],
)
async def test_message_out_of_order_is_the_applications_mistake(message: Any) -> None:
    party = await Party().begun()
    with pytest.raises(RuntimeError, match="out of order"):
        await party.send(message)
    await party.send(ACCEPT)
    with pytest.raises(RuntimeError, match="out of order"):
        await party.send(ACCEPT)
    await party.end()


async def test_messages_go_both_ways() -> None:
    party = await Party().opened()
    party.feed(TEXT, "ü".encode())
    party.feed(BINARY, b"\xff")
    assert await party.receive() == {"type": "websocket.receive", "text": "ü"}
    assert await party.receive() == {"type": "websocket.receive", "bytes": b"\xff"}
    waiting = asyncio.ensure_future(party.receive())
    await asyncio.wait([waiting], timeout=0)
    party.feed(TEXT, b"later")
    assert await waiting == {"type": "websocket.receive", "text": "later"}
    await party.send({"type": "websocket.send", "text": "ü"})
    await party.send({"type": "websocket.send", "bytes": b"\xff"})
    assert party.frames() == [Frame(TEXT, "ü".encode()), Frame(BINARY, b"\xff")]
    await party.end()


async def test_pings_are_answered_even_between_fragments() -> None:
    party = await Party().opened()
    party.feed(TEXT, b"one ", fin=False)
    party.feed(PING, b"are you there")
    party.feed(CONTINUATION, b"two")
    party.feed(PONG, b"nobody asked")
    assert party.frames() == [Frame(PONG, b"are you there")]
    assert await party.receive() == {"type": "websocket.receive", "text": "one two"}
    await party.end()


async def test_messages_that_nobody_takes_stop_the_reading() -> None:
    party = await Party().opened()
    fed = 0
    while party.wire.reading:
        party.feed(TEXT, b"x" * 1000)
        fed += 1
        assert fed * 1000 < 2 * QUEUE_BYTES
    for _ in range(fed):
        assert not party.wire.reading
        assert (await party.receive())["text"] == "x" * 1000
    assert party.wire.reading
    await party.end()


async def test_empty_messages_stop_the_reading_as_well() -> None:
    party = await Party().opened()
    for _ in range(QUEUE_BYTES // 100):
        party.feed(TEXT)
    assert not party.wire.reading
    await party.end()


@given(payloads=st.lists(st.text(max_size=300), max_size=8), cuts=st.lists(st.integers(0, 3000), max_size=6))
def test_any_cutting_gives_the_application_the_same_messages(payloads: list[str], cuts: list[int]) -> None:
    async def main() -> None:
        party = await Party().opened()
        data = b"".join(frame(TEXT, text.encode(), mask=MASK) for text in payloads)
        edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
        for start, end in itertools.pairwise(edges):
            party.connection.data_received(data[start:end])
        assert [(await party.receive())["text"] for _ in payloads] == payloads
        await party.end()

    asyncio.run(main())


# Closing


@pytest.mark.parametrize("code", [1000, 1001, 4000])
async def test_clients_close_is_answered_with_its_code(code: int) -> None:
    party = await Party().opened()
    party.feed(TEXT, b"last words")
    party.connection.data_received(close_frame(code, "done", MASK))
    assert party.closing() == Close(code, "")
    assert party.wire.ended == "close"
    assert (await party.receive())["text"] == "last words"
    gone = {"type": "websocket.disconnect", "code": code, "reason": "done"}
    assert await party.receive() == await party.receive() == gone
    with pytest.raises(OSError):
        await party.send({"type": "websocket.send", "text": "too late"})
    await party.end()


async def test_close_without_a_code_is_answered_without_one() -> None:
    party = await Party().opened()
    party.connection.data_received(frame(8, b"", mask=MASK))
    assert party.frames() == [Frame(8, b"")]
    assert (await party.receive())["code"] == 1005
    await party.end()


async def test_servers_close_waits_for_the_answer() -> None:
    party = await Party().opened()
    party.feed(TEXT, b"never taken")
    await party.send({"type": "websocket.close", "code": 1003, "reason": "text only"})
    assert party.closing() == Close(1003, "text only")
    assert not party.wire.ended
    party.feed(TEXT, b"never taken either")
    assert (await party.receive())["type"] == "websocket.disconnect"
    party.connection.data_received(close_frame(1003, "", MASK))
    assert (party.frames(), party.wire.ended) == ([], "close")
    await party.end()


async def test_client_that_does_not_answer_a_close_is_cut_off() -> None:
    party = await Party().opened()
    await party.send({"type": "websocket.close"})
    party.pass_time(CLOSE_TIMEOUT - 1)
    assert not party.wire.ended
    party.pass_time(1)
    assert party.wire.ended == "abort"
    await party.end()


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
async def test_client_that_breaks_the_rules_is_told_which(data: bytes, code: int, half_closes: bool) -> None:
    party = await Party(message_bytes=100, half_closes=half_closes).opened()
    party.connection.data_received(data + frame(TEXT, b"ignored", mask=MASK))
    assert party.closing().code == code
    # It may still be sending: a reset could reach it before the reason does.
    assert party.wire.ended == ("eof" if half_closes else "close")
    assert (await party.receive())["code"] == code
    party.connection.data_received(b"ignored")
    party.pass_time(CLOSE_TIMEOUT)
    assert party.wire.ended == "abort"
    await party.end()


async def test_connection_that_breaks_is_told_to_the_application() -> None:
    party = await Party().opened()
    waiting = asyncio.ensure_future(party.receive())
    await asyncio.wait([waiting], timeout=0)
    party.connection.connection_lost(ConnectionResetError())
    assert await waiting == {"type": "websocket.disconnect", "code": 1006, "reason": ""}
    with pytest.raises(OSError):
        await party.send({"type": "websocket.send", "text": "x"})
    assert not party.server._connections
    await party.end()


async def test_stopping_house_closes_what_the_application_left_open() -> None:
    party = await Party().opened()
    party.connection.finish()
    assert party.closing() == Close(1001, "the server is stopping")
    await party.end()


# Time and congestion


async def test_silent_client_is_pinged_and_cut_off_when_it_stays_silent() -> None:
    party = await Party(ping_interval=20.0, ping_timeout=10.0).opened()
    party.pass_time(19)
    assert party.frames() == []
    party.pass_time(1)
    assert party.frames() == [Frame(PING, b"")]
    party.pass_time(9)
    assert not party.wire.ended
    party.pass_time(1)
    assert party.wire.ended == "abort"
    assert (await party.receive())["code"] == 1006
    await party.end()


async def test_any_sign_of_life_counts() -> None:
    party = await Party(ping_interval=20.0, ping_timeout=10.0).opened()
    for sign in (PONG, TEXT, PING):
        party.pass_time(20)
        assert Frame(PING, b"") in party.frames()
        party.feed(sign)
        party.pass_time(10)
        assert not party.wire.ended
    party.feed(TEXT, b"talking")
    party.frames()
    party.pass_time(20)
    assert party.frames() == []
    await party.end()


async def test_pings_can_be_switched_off() -> None:
    party = await Party(ping_interval=None).opened()
    party.pass_time(100_000)
    assert (party.frames(), party.wire.ended) == ([], "")
    await party.end()


async def test_send_waits_while_the_client_does_not_read() -> None:
    party = await Party().opened()
    party.connection.pause_writing()
    sending = asyncio.ensure_future(party.send({"type": "websocket.send", "text": "x"}))
    await asyncio.wait([sending], timeout=0)
    assert (sending.done(), party.frames()) == (False, [])
    party.connection.resume_writing()
    await sending
    assert party.frames() == [Frame(TEXT, b"x")]
    await party.end()


async def test_message_is_said_at_once_or_not_at_all() -> None:
    party = await Party().begun()
    assert not party.connection.try_send_text(b"not yet")
    await party.send(ACCEPT)
    party.wire.written = b""
    assert party.connection.try_send_text(b"now")
    party.connection.pause_writing()
    assert not party.connection.try_send_text(b"not now")
    assert party.frames() == [Frame(TEXT, b"now")]
    party.connection.connection_lost(None)
    assert not party.connection.try_send_text(b"no more")
    await party.end()


async def test_send_that_waits_ends_with_the_connection() -> None:
    party = await Party().opened()
    party.connection.pause_writing()
    sending = asyncio.ensure_future(party.send({"type": "websocket.send", "text": "x"}))
    await asyncio.wait([sending], timeout=0)
    party.connection.connection_lost(None)
    with pytest.raises(OSError):
        await sending
    await party.end()


async def test_client_that_does_not_read_for_too_long_is_cut_off() -> None:
    party = await Party(write_timeout=30.0, ping_interval=5.0).opened()
    party.connection.pause_writing()
    party.pass_time(29)
    assert not party.wire.ended
    party.pass_time(1)
    assert party.wire.ended == "abort"
    await party.end()


async def test_last_words_do_not_wait_for_a_client_that_does_not_read() -> None:
    party = await Party(write_timeout=1000.0).opened()
    party.connection.pause_writing()
    await party.send({"type": "websocket.close", "code": 1008, "reason": "slow"})
    assert party.closing() == Close(1008, "slow")
    party.pass_time(CLOSE_TIMEOUT)
    assert party.wire.ended == "abort"
    await party.end()


async def test_pings_of_a_client_that_does_not_read_are_answered_once() -> None:
    """Else its answers would pile up in memory."""
    party = await Party().opened()
    party.connection.pause_writing()
    for number in range(1000):
        party.feed(PING, b"%d" % number)
    assert party.frames() == []
    party.connection.resume_writing()
    assert party.frames() == [Frame(PONG, b"999")]
    await party.end()
