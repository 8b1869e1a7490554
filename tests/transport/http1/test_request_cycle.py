"""One request and its response, from the side of the application and of the client."""

from __future__ import annotations

import asyncio
import logging
import re
from email.utils import parsedate_to_datetime
from typing import Any, cast

import pytest

from assay.protocol.http.asgi import AsgiScope, Message, Receive, Transmit
from assay.transport.http1.request_cycle import BUFFERED, ClientDisconnected, is_disconnect
from tests.transport.http1.memory_client import (
    App,
    MemoryClient,
    chunked,
    echo,
    echo_at_once,
    echo_in_parts,
    get,
    length,
    not_reached,
    part,
    post,
    read_body,
    settle,
    start,
    whole_send,
)

each_echo = pytest.mark.parametrize("app", [echo, echo_in_parts, echo_at_once], ids=lambda app: app.__name__)


def sending(*messages: Message, before: bool = True) -> App:
    """An application that reads its request and sends these."""

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        if before:
            await read_body(receive)
        for message in messages:
            await send(message)

    return app


class Held:
    """An application that waits for the test."""

    def __init__(self) -> None:
        self.outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.receive: Receive
        self.send: Transmit
        self.scope: AsgiScope
        self.calls = 0
        self.ended = 0

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        self.calls += 1
        self.scope, self.receive, self.send = scope, receive, send
        try:
            await self.outcome
        finally:
            self.ended += 1


# The request


async def test_scope_is_complete() -> None:
    held = Held()
    client = await MemoryClient(held, tls=True).send(get(b"/a%20b?c=d", b"X-Mixed: Value", b"x-mixed: two"))
    assert held.scope == {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "https",
        "path": "/a b",
        "raw_path": b"/a%20b",
        "query_string": b"c=d",
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"x-mixed", b"Value"), (b"x-mixed", b"two")],
        "server": ("10.0.0.2", 80),
        "client": ("10.0.0.1", 50000),
    }
    held.outcome.set_result(None)
    await client.leave()


async def test_spaces_around_a_value_are_removed() -> None:
    """RFC 9110, 5.5."""
    held = Held()
    client = await MemoryClient(held).send(get(b"/", b"x:  \t one two \t "))
    assert held.scope["headers"][1] == (b"x", b"one two")
    held.outcome.set_result(None)
    await client.leave()


@each_echo
@pytest.mark.parametrize("body", [b"", b"hello", b"x" * (3 * BUFFERED)], ids=["none", "short", "long"])
async def test_body_arrives_however_it_was_framed(app: App, body: bytes) -> None:
    for framed in (post(body), chunked(*filter(None, (body[:1], body[1:])))):
        client = await MemoryClient(app).send(framed)
        assert (client.answer.status, client.answer.body) == (200, body)
        await client.leave()


async def test_trailer_never_becomes_a_header() -> None:
    held = Held()
    evil = [b"x-user: root", b"host: evil.example", b"authorization: Bearer x"]
    client = await MemoryClient(held).send(chunked(b"hello", trailers=evil))
    assert held.scope["headers"] == [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")]
    await held.send(start(200, length(0)))
    await held.send(part())
    # Nor a header of the next request.
    await client.send(get())
    assert (held.calls, held.scope["headers"]) == (2, [(b"host", b"localhost")])
    held.outcome.set_result(None)
    await client.leave()


async def test_whole_body_counts_as_received() -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello"))
    ours = whole_send(held.send)
    assert (ours.take_whole_body(), ours.take_whole_body()) == (b"hello", None)
    waiting = asyncio.ensure_future(held.receive())
    await settle()
    assert not waiting.done()
    ours.respond(200, (), b"")
    assert await waiting == {"type": "http.disconnect"}
    held.outcome.set_result(None)
    await client.leave()


async def test_rest_of_a_body_is_not_taken_for_the_whole() -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello")[:-2])
    assert whole_send(held.send).take_whole_body() is None
    assert await held.receive() == {"type": "http.request", "body": b"hel", "more_body": True}
    await client.send(b"lo")
    assert whole_send(held.send).take_whole_body() is None
    assert await held.receive() == {"type": "http.request", "body": b"lo", "more_body": False}
    held.outcome.set_result(None)
    await client.leave()


async def test_tiny_chunks_are_joined_in_linear_time() -> None:
    """Copying everything for each chunk would take minutes."""
    client = MemoryClient(echo)
    await client.send(chunked(*[b"x"] * 200_000))
    assert client.answer.body == b"x" * 200_000
    await client.leave()


async def test_several_tasks_may_receive_the_same_body() -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello")[:-5])
    first, second = asyncio.ensure_future(held.receive()), asyncio.ensure_future(held.receive())
    await settle()
    await client.send(b"hello")
    assert (await first)["body"] == b"hello"
    assert not second.done()
    held.outcome.set_result(None)
    await settle()
    assert (await second)["type"] == "http.disconnect"
    await client.leave()


# 100 Continue


async def test_100_continue_is_sent_when_the_body_is_read() -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello", b"Expect: 100-continue")[:-5])
    assert client.wire.written == b""
    reading = asyncio.ensure_future(read_body(held.receive))
    await settle()
    assert client.wire.written == b"HTTP/1.1 100 Continue\r\n\r\n"
    await client.send(b"he", b"llo")
    assert await reading == b"hello"
    await held.send(start(200, length(0)))
    await held.send(part())
    assert client.answer[:3:2] == (200, b"")
    assert client.answer.interim == (100,)
    assert not client.wire.ended
    held.outcome.set_result(None)
    await client.leave()


@pytest.mark.parametrize("direct", [True, False])
async def test_refusal_may_replace_100_continue(direct: bool) -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello", b"Expect: 100-continue")[:-5])
    if direct:
        whole_send(held.send).respond(413, (), b"")
    else:
        await held.send(start(413, length(0)))
        await held.send(part())
    assert await held.receive() == {"type": "http.disconnect"}
    assert (client.answer.status, client.answer.interim) == (413, ())
    assert client.answer.headers[b"connection"] == b"close"
    held.outcome.set_result(None)
    await client.leave()


async def test_100_continue_is_not_sent_without_expect() -> None:
    client = await MemoryClient(echo).send(post(b"hello", b"Expect: 100-continue"))
    assert (client.answer.body, client.answer.interim) == (b"hello", ())
    await client.leave()


async def test_100_continue_is_sent_by_an_application_that_responds_while_it_reads() -> None:
    client = await MemoryClient(echo_in_parts).send(post(b"hello", b"Expect: 100-continue")[:-5])
    assert client.wire.written == b"HTTP/1.1 100 Continue\r\n\r\n"
    await client.send(b"he", b"llo")
    assert (client.answer.body, client.answer.interim) == (b"hello", (100,))
    await client.leave()


async def test_100_continue_is_not_sent_for_a_body_that_has_arrived() -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello", b"Expect: 100-continue")[:-5])
    await client.send(b"hello")
    assert (await held.receive())["body"] == b"hello"
    assert client.wire.written == b""
    held.outcome.set_result(None)
    await client.leave()


async def test_100_continue_is_not_sent_to_http_1_0() -> None:
    client = await MemoryClient(echo).send(
        post(b"hello", b"Expect: 100-continue", version=b"1.0")[:-5], b"hello"
    )
    assert (client.answer.body, client.answer.interim) == (b"hello", ())
    await client.leave()


# The response


async def test_date_is_current_and_sent_once() -> None:
    client = await MemoryClient(echo).send(get())
    assert parsedate_to_datetime(client.answer.headers[b"date"].decode()).tzinfo is not None
    await client.leave()
    theirs = b"Thu, 01 Jan 1970 00:00:00 GMT"
    client = await MemoryClient(sending(start(200, length(0), (b"Date", theirs)), part())).send(get())
    assert client.answer.headers[b"date"] == theirs
    await client.leave()


async def test_head_leaves_with_the_first_part_of_its_body() -> None:
    """As ASGI requires. So it can still be replaced, and needs no separate packet."""
    held = Held()
    client = await MemoryClient(held).send(get())
    await held.send(start())
    assert client.wire.written == b""
    await held.send(part(b"", more=True))
    assert client.wire.written.startswith(b"HTTP/1.1 200 OK\r\n")
    assert client.wire.written.endswith(b"\r\n\r\n")
    held.outcome.set_result(None)
    await client.leave()


async def test_body_without_a_length_is_chunked() -> None:
    app = sending(start(), part(b"one ", more=True), part(b"", more=True), part(b"two"))
    client = await MemoryClient(app).send(get())
    assert client.answer.headers[b"transfer-encoding"] == b"chunked"
    assert (client.answer.body, client.wire.ended) == (b"one two", "")
    await client.leave()


async def test_part_may_be_any_kind_of_bytes() -> None:
    app = sending(
        start(), part(cast(bytes, memoryview(b"one ")), more=True), part(cast(bytes, bytearray(b"two")))
    )
    client = await MemoryClient(app).send(get())
    assert client.answer.body == b"one two"
    await client.leave()


@pytest.mark.parametrize("size", [None, 5])
async def test_client_of_http_1_0_gets_no_chunks_and_a_closed_connection(size: int | None) -> None:
    headers = [] if size is None else [length(size)]
    app = sending(start(200, *headers), part(b"he", more=True), part(b"llo"))
    client = await MemoryClient(app).send(get(version=b"1.0"))
    (answer,) = client.answers("GET")
    assert (answer.body, answer.headers[b"connection"]) == (b"hello", b"close")
    assert b"transfer-encoding" not in answer.headers
    assert client.wire.ended == "close"
    await client.leave()


async def test_client_of_http_1_0_is_not_kept_even_if_it_asks() -> None:
    """It would need a `Connection: keep-alive` header in the response, and otherwise waits for the end."""
    client = await MemoryClient(echo).send(get(b"/", b"connection: keep-alive", version=b"1.0"))
    assert client.answers("GET")[0].headers[b"connection"] == b"close"
    assert client.wire.ended == "close"
    await client.leave()


async def direct_hello(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    whole_send(send).respond(200, ((b"x", b"1"),), b"hello")


@pytest.mark.parametrize(
    ("app", "size"),
    [
        (sending(start(200, length(5)), part(b"he", more=True), part(b"llo")), b"5"),
        (sending(start(), part(b"hello")), None),
        (direct_hello, b"5"),
    ],
)
async def test_head_has_no_body(app: App, size: bytes | None) -> None:
    client = await MemoryClient(app).send(get(method=b"HEAD"), get())
    head, after = client.answers("HEAD", "GET")
    assert (head.status, head.body, head.headers.get(b"content-length")) == (200, b"", size)
    assert after.body == b"hello"
    await client.leave()


@pytest.mark.parametrize("status", [204, 304])
async def test_bodiless_status_never_has_a_body(status: int) -> None:
    app = sending(start(status), part(b"not ", more=True), part(b"this"))
    client = await MemoryClient(app).send(get(), get())
    assert [(each.status, each.body) for each in client.answers("GET", "GET")] == [(status, b"")] * 2
    assert not re.search(rb"not |transfer-encoding", client.wire.written)
    await client.leave()


async def test_application_may_end_the_connection() -> None:
    client = await MemoryClient(sending(start(200, length(0), (b"connection", b"close")), part())).send(get())
    assert client.answer.headers[b"connection"] == b"close"
    assert client.wire.ended == "close"
    await client.leave()


# Faults of the application


async def failing(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    raise RuntimeError("ours")


async def idle(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    await read_body(receive)


@pytest.mark.parametrize(
    ("app", "why"),
    [
        (failing, "ours"),
        (idle, "without a complete response"),
        (sending(part(b"no head")), "out of order: http.response.body"),
        (sending({"type": "http.response.trailers"}), "out of order"),
        (sending(start(200, (b"x", b"1\r\ny: 2"))), "not a valid response header"),
        (sending(start(200, (b"content-length", b"x"))), "not a content-length"),
        (sending(start(101)), "not the status of a response"),
        (sending(start()), "without a complete response"),
        (sending(start(), start()), "out of order"),
        (sending(start(200, length(5)), part(b"hell")), "content-length"),
        (sending(start(200, length(5)), part(b"hello!", more=True)), "content-length"),
    ],
)
async def test_application_without_a_response_gets_a_500(
    app: App, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = await MemoryClient(app).send(post(b"hello"), get())
    assert [(each.status, each.body) for each in client.answers("POST", "GET")] == [(500, b"")] * 2
    assert why in caplog.text
    await client.leave()


@pytest.mark.parametrize(
    ("messages", "written", "why"),
    [
        ([start(), part(b"hello", more=True)], b"5\r\nhello\r\n", "without a complete response"),
        ([start(200, length(5)), part(b"hell", more=True)], b"hell", "without a complete response"),
        ([start(200, length(5)), part(b"hello", more=True), part(b"!")], b"hello", "content-length"),
        ([start(), part(b"hello", more=True), start()], b"5\r\nhello\r\n", "out of order"),
    ],
)
async def test_incomplete_response_is_aborted(
    messages: list[Message], written: bytes, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The client must notice that it is incomplete: no last chunk, no length, no orderly close."""
    client = await MemoryClient(sending(*messages)).send(get(), get())
    assert client.wire.written.partition(b"\r\n\r\n")[2] == written
    assert (client.wire.ended, "the application" in caplog.text, why in caplog.text) == ("abort", True, True)
    await client.leave()


async def test_fault_after_a_complete_response_is_harmless(caplog: pytest.LogCaptureFixture) -> None:
    whole = [start(200, length(5)), part(b"hello")]
    for more in (part(b"!"), start()):
        client = await MemoryClient(sending(*whole, more)).send(get(), get())
        assert [each.body for each in client.answers("GET", "GET")] == [b"hello", b"hello"]
        await client.leave()
    assert "already complete" in caplog.text
    assert "out of order" in caplog.text


async def test_second_response_is_an_error() -> None:
    held = Held()
    client = await MemoryClient(held).send(get())
    whole_send(held.send).respond(200, (), b"one")
    with pytest.raises(RuntimeError, match="already begun"):
        whole_send(held.send).respond(200, (), b"two")
    assert client.answer.body == b"one"
    held.outcome.set_result(None)
    await client.leave()


@pytest.mark.parametrize("begun", [True, False])
async def test_cancelled_application_ends_the_connection(begun: bool) -> None:
    held = Held()
    client = await MemoryClient(held).send(get())
    if begun:
        await held.send(start())
    held.outcome.cancel()
    await settle()
    assert client.wire.ended == "abort"
    await client.leave()


# Disconnects


async def test_disconnect_reaches_receive() -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello"))
    assert (await held.receive())["body"] == b"hello"
    waiting = asyncio.ensure_future(held.receive())
    await settle()
    client.wire.hang_up()
    assert await waiting == await held.receive() == {"type": "http.disconnect"}
    held.outcome.set_result(None)
    await client.leave()


async def test_disconnect_inside_the_body_reaches_receive() -> None:
    held = Held()
    client = await MemoryClient(held).send(post(b"hello", b"expect: 100-continue")[:-5])
    client.wire.hang_up()
    await settle()
    assert await held.receive() == {"type": "http.disconnect"}
    assert client.wire.written == b""
    held.outcome.set_result(None)
    await client.leave()


async def test_sending_after_a_disconnect_raises() -> None:
    held = Held()
    client = await MemoryClient(held).send(get())
    client.wire.hang_up()
    await settle()
    for message in (start(), part()):
        with pytest.raises(OSError):
            await held.send(message)
    with pytest.raises(OSError):
        whole_send(held.send).respond(200, (), b"")
    held.outcome.set_result(None)
    await client.leave()


async def test_work_continues_after_a_disconnect_and_is_held_until_done() -> None:
    held = Held()
    client = await MemoryClient(held).send(get())
    client.wire.hang_up()
    await settle()
    (task,) = client.server._tasks
    assert (held.ended, task.done()) == (0, False)
    held.outcome.set_result(None)
    await settle()
    assert (held.ended, task.done(), client.server._tasks) == (1, True, set())
    await client.leave()


async def test_work_after_the_response_is_held_until_done() -> None:
    held = Held()
    client = await MemoryClient(held).send(get())
    await held.send(start(200, length(0)))
    await held.send(part())
    first = held.outcome
    held.outcome = asyncio.get_running_loop().create_future()
    await client.send(get())
    assert (held.calls, len(client.server._tasks)) == (2, 1)
    await held.send(start(200, length(0)))
    await held.send(part())
    client.wire.hang_up()
    await settle()
    assert len(client.server._tasks) == 2
    first.set_result(None)
    held.outcome.set_result(None)
    await settle()
    assert (held.ended, client.server._tasks) == (2, set())
    await client.leave()


class Wrapped(Exception):
    """The exception of a framework after a disconnect."""


async def test_failure_by_a_disconnect_is_not_an_error(caplog: pytest.LogCaptureFixture) -> None:
    gone = asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await gone.wait()
        try:
            await send(start())
        except OSError:
            raise Wrapped from None

    client = await MemoryClient(app).send(get())
    client.wire.hang_up()
    await settle()
    with caplog.at_level(logging.DEBUG, "assay.http"):
        gone.set()
        await settle()
    assert [record.levelname for record in caplog.records if record.name == "assay.http"] == ["DEBUG"]
    await client.leave()


def test_disconnect_is_recognised_in_any_wrapper() -> None:
    left, bug = ClientDisconnected("left"), ValueError("bug")
    caused, during = Wrapped(), Wrapped()
    caused.__cause__, during.__context__ = left, left
    assert all(map(is_disconnect, [left, caused, during, ExceptionGroup("both", [left, caused])]))
    assert not any(map(is_disconnect, [None, bug, ExceptionGroup("both", [left, bug]), ConnectionError()]))


async def test_connecting_alone_calls_no_application() -> None:
    client = await MemoryClient(not_reached).send()
    assert client.wire.written == b""
    await client.leave()
