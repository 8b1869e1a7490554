"""Timeouts and size limits of a connection, with a manual clock."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from tests.transport.http1.memory_client import (
    HIGH,
    App,
    MemoryClient,
    chunked,
    echo,
    echo_at_once,
    get,
    not_reached,
    part,
    post,
    settle,
    start,
    whole_send,
)

HEAD = get(b"/", b"x-long: " + b"y" * 200)


def answering(body: bytes) -> App:
    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        whole_send(send).respond(200, (), body)

    return app


# Heads that do not arrive


async def test_silent_client_is_closed_without_a_response() -> None:
    client = MemoryClient(not_reached, head_timeout=10.0)
    await client.pass_time(9)
    assert not client.wire.ended
    await client.pass_time(1)
    assert (client.wire.ended, client.wire.written) == ("close", b"")
    await client.leave()


async def test_slow_head_gets_408() -> None:
    client = MemoryClient(not_reached, head_timeout=10.0)
    for place in range(9):
        await client.send(HEAD[place : place + 1])
        await client.pass_time(1)
    assert not client.wire.ended
    await client.pass_time(1)
    assert (client.answer.status, client.wire.ended) == (408, "eof")
    await client.pass_time(3)
    assert client.wire.lost
    await client.leave()


@pytest.mark.parametrize("first", [b"G", b"\r\n"])
async def test_next_head_has_as_long_from_its_first_byte_on(first: bytes) -> None:
    client = await MemoryClient(echo, head_timeout=10.0, keep_alive=60.0).send(get())
    await client.pass_time(50)
    await client.send(first)
    await client.pass_time(9)
    assert not client.wire.ended
    await client.pass_time(1)
    assert [each.status for each in client.answers("GET", "GET")] == [200, 408]
    await client.leave()


async def test_idle_connection_is_closed_without_a_response() -> None:
    client = await MemoryClient(echo, keep_alive=60.0).send(get())
    await client.pass_time(59)
    await client.send(get())
    await client.pass_time(59)
    assert not client.wire.ended
    await client.pass_time(1)
    assert (len(client.answers("GET", "GET")), client.wire.ended) == (2, "close")
    await client.leave()


async def test_incomplete_head_behind_a_request_expires() -> None:
    client = await MemoryClient(echo, keep_alive=60.0).send(get() + HEAD[:-1])
    await client.pass_time(60)
    assert (client.answers("GET")[0].status, client.wire.ended) == (200, "close")
    await client.leave()


async def test_application_may_take_its_time() -> None:
    door = asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await door.wait()
        await echo(scope, receive, send)

    client = await MemoryClient(app).send(post(b"hello"))
    await client.pass_time(100_000)
    door.set()
    await settle()
    assert client.answer.body == b"hello"
    await client.leave()


# Endless heads


@given(
    cut=st.integers(1, 300),
    extra=st.sampled_from([-100, 100]),
    name=st.sampled_from([b"target", b"header", b"many"]),
)
def test_size_limit_of_a_head_does_not_depend_on_chunking(cut: int, extra: int, name: bytes) -> None:
    limit = 2000
    size = limit + extra - len(get(b"/", b"x: "))
    head = {
        b"target": get(b"/" + b"y" * size),
        b"header": get(b"/", b"x: " + b"y" * size),
        b"many": get(b"/", *[b"x: y"] * (size // 6)),
    }[name]

    async def main() -> None:
        client = MemoryClient(echo_at_once, head_bytes=limit)
        await client.send(get() + head if cut == 300 else get())
        if cut < 300:
            await client.send(*(head[place : place + cut] for place in range(0, len(head), cut)))
        assert [each.status for each in client.answers("GET", "GET")] == [200, 431 if extra > 0 else 200]
        await client.leave()

    asyncio.run(main())


ENDLESS = {
    "target": (b"GET /", b"a" * 1000),
    "header name": (b"GET / HTTP/1.1\r\n", b"a" * 1000),
    "header value": (b"GET / HTTP/1.1\r\nx: ", b"a" * 1000),
    "headers": (b"GET / HTTP/1.1\r\n", b"x: y\r\n" * 200),
    "empty lines": (b"", b"\r\n" * 500),
    "method": (b"", b"POST" * 250),
    "chunk extension": (chunked()[:-5] + b"1;", b"a" * 1000),
    "chunk size": (chunked()[:-5], b"0" * 1000),
    "trailers": (chunked()[:-2], b"x: y\r\n" * 200),
}


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("name", ENDLESS)
async def test_endless_input_is_cut_off_and_does_not_fill_the_memory(name: str, traced: None) -> None:
    begin, more = ENDLESS[name]

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    client = await MemoryClient(app, head_bytes=50_000).send(begin)
    before, _ = tracemalloc.get_traced_memory()
    sent = 0
    while not client.wire.ended and sent < 1_000_000:
        await client.send(more)
        sent += len(more)
    assert sent < 60_000
    assert client.answer.status in (400, 431)
    for _ in range(100):
        await client.send(more)
    after, _ = tracemalloc.get_traced_memory()
    assert after - before < 1_000_000
    await client.leave()


# Responses that are not read


class Pourer:
    """Sends endlessly, and records the exception."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await send(start())
        try:
            while True:
                await send(part(b"x" * 10_000, more=True))
        except OSError as error:
            self.error = error
            raise


async def test_client_that_does_not_read_is_cut_off() -> None:
    pourer = Pourer()
    client = MemoryClient(pourer, write_timeout=30.0)
    client.wire.stop_reading()
    await client.send(get())
    assert HIGH < client.wire.get_write_buffer_size() < HIGH + 20_000
    await client.pass_time(29)
    assert (client.wire.ended, pourer.error) == ("", None)
    await client.pass_time(1)
    assert (client.wire.ended, isinstance(pourer.error, OSError)) == ("abort", True)
    assert not client.server._tasks
    await client.leave()


async def test_client_that_reads_slowly_is_not_cut_off() -> None:
    """A long response on a slow connection: progress counts, not the total time."""
    client = MemoryClient(answering(b"x" * 1_000_000), write_timeout=30.0)
    client.wire.stop_reading()
    await client.send(get())
    for _ in range(9):
        client.wire.read(100_000)
        await client.pass_time(30)
        assert not client.wire.ended
    client.wire.read()
    await client.send(get())
    assert len(client.answers("GET", "GET")) == 2
    await client.leave()


async def test_client_that_reads_next_to_nothing_is_cut_off() -> None:
    client = MemoryClient(answering(b"x" * 1_000_000), write_timeout=30.0)
    client.wire.stop_reading()
    await client.send(get())
    client.wire.read(1000)
    await client.pass_time(30)
    assert client.wire.ended == "abort"
    await client.leave()


async def test_client_that_sends_but_does_not_read_is_cut_off() -> None:
    client = MemoryClient(answering(b"x" * 100_000), write_timeout=30.0)
    client.wire.stop_reading()
    await client.send(get() * 3)
    await client.pass_time(30)
    assert client.wire.ended == "abort"
    await client.leave()


@pytest.mark.parametrize("line", [b"x: y", b"connection: close"])
async def test_small_unread_response_does_not_keep_a_connection_open(line: bytes) -> None:
    """Too little for congestion, but closing waits until it is sent."""
    client = MemoryClient(answering(b"x" * 1000), keep_alive=60.0, write_timeout=30.0)
    client.wire.stop_reading()
    await client.send(get(b"/", line))
    assert not client.connection.congested
    await client.pass_time(60)
    if line == b"x: y":
        assert (client.wire.ended, client.wire.lost) == ("close", False)
        await client.pass_time(30)
    assert (client.wire.ended, client.wire.lost) == ("abort", True)
    await client.leave()


async def test_refused_client_that_does_not_read_is_cut_off() -> None:
    client = MemoryClient(not_reached)
    client.wire.stop_reading()
    await client.send(b"hello\r\n\r\n")
    assert client.wire.ended == "eof"
    await client.pass_time(2)
    assert (client.wire.ended, client.wire.lost) == ("close", False)
    await client.pass_time(30)
    assert (client.wire.ended, client.wire.lost) == ("abort", True)
    await client.leave()


async def test_client_that_reads_again_may_stay() -> None:
    client = MemoryClient(answering(b"x" * 100_000), write_timeout=30.0, keep_alive=60.0)
    client.wire.stop_reading()
    await client.send(get())
    await client.pass_time(29)
    client.wire.read()
    await client.pass_time(59)
    assert not client.wire.ended
    await client.send(get())
    assert len(client.answers("GET", "GET")) == 2
    await client.leave()
