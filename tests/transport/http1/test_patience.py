"""How long a connection waits for its client, and how much it takes: the test moves the clock."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from tests.transport.http1.visit import (
    HIGH,
    App,
    Visit,
    chunked,
    echo,
    echo_at_once,
    get,
    not_reached,
    part,
    post,
    settle,
    start,
)

HEAD = get(b"/", b"x-long: " + b"y" * 200)


def answering(body: bytes) -> App:
    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        cast(Any, send).answer(200, (), body)

    return app


# Heads that do not come


async def test_client_that_says_nothing_is_left_without_a_word() -> None:
    visit = Visit(not_reached, head_timeout=10.0)
    await visit.pass_time(9)
    assert not visit.wire.ended
    await visit.pass_time(1)
    assert (visit.wire.ended, visit.wire.written) == ("close", b"")
    await visit.leave()


async def test_head_that_trickles_is_told_that_it_took_too_long() -> None:
    visit = Visit(not_reached, head_timeout=10.0)
    for place in range(9):
        await visit.send(HEAD[place : place + 1])
        await visit.pass_time(1)
    assert not visit.wire.ended
    await visit.pass_time(1)
    assert (visit.answer.status, visit.wire.ended) == (408, "eof")
    await visit.pass_time(3)
    assert visit.wire.lost
    await visit.leave()


@pytest.mark.parametrize("first", [b"G", b"\r\n"])
async def test_next_head_has_as_long_from_its_first_byte_on(first: bytes) -> None:
    visit = await Visit(echo, head_timeout=10.0, keep_alive=60.0).send(get())
    await visit.pass_time(50)
    await visit.send(first)
    await visit.pass_time(9)
    assert not visit.wire.ended
    await visit.pass_time(1)
    assert [each.status for each in visit.answers("GET", "GET")] == [200, 408]
    await visit.leave()


async def test_idle_connection_is_closed_without_a_word() -> None:
    visit = await Visit(echo, keep_alive=60.0).send(get())
    await visit.pass_time(59)
    await visit.send(get())
    await visit.pass_time(59)
    assert not visit.wire.ended
    await visit.pass_time(1)
    assert (len(visit.answers("GET", "GET")), visit.wire.ended) == (2, "close")
    await visit.leave()


async def test_half_a_head_behind_a_whole_request_does_not_stay_for_ever() -> None:
    visit = await Visit(echo, keep_alive=60.0).send(get() + HEAD[:-1])
    await visit.pass_time(60)
    assert (visit.answers("GET")[0].status, visit.wire.ended) == (200, "close")
    await visit.leave()


async def test_application_may_take_its_time() -> None:
    door = asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await door.wait()
        await echo(scope, receive, send)

    visit = await Visit(app).send(post(b"hello"))
    await visit.pass_time(100_000)
    door.set()
    await settle()
    assert visit.answer.body == b"hello"
    await visit.leave()


# Heads without an end


@given(
    cut=st.integers(1, 300),
    extra=st.sampled_from([-100, 100]),
    name=st.sampled_from([b"target", b"header", b"many"]),
)
def test_size_of_a_head_decides_in_however_many_parts_it_comes(cut: int, extra: int, name: bytes) -> None:
    limit = 2000
    size = limit + extra - len(get(b"/", b"x: "))
    head = {
        b"target": get(b"/" + b"y" * size),
        b"header": get(b"/", b"x: " + b"y" * size),
        b"many": get(b"/", *[b"x: y"] * (size // 6)),
    }[name]

    async def main() -> None:
        visit = Visit(echo_at_once, head_bytes=limit)
        await visit.send(get() + head if cut == 300 else get())
        if cut < 300:
            await visit.send(*(head[place : place + cut] for place in range(0, len(head), cut)))
        assert [each.status for each in visit.answers("GET", "GET")] == [200, 431 if extra > 0 else 200]
        await visit.leave()

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
async def test_what_has_no_end_is_cut_off_and_does_not_fill_the_memory(name: str, traced: None) -> None:
    begin, more = ENDLESS[name]

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    visit = await Visit(app, head_bytes=50_000).send(begin)
    before, _ = tracemalloc.get_traced_memory()
    sent = 0
    while not visit.wire.ended and sent < 1_000_000:
        await visit.send(more)
        sent += len(more)
    assert sent < 60_000
    assert visit.answer.status in (400, 431)
    for _ in range(100):
        await visit.send(more)
    after, _ = tracemalloc.get_traced_memory()
    assert after - before < 1_000_000
    await visit.leave()


# Answers that are not read


class Pourer:
    """Sends without end, and remembers how that ended."""

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
    visit = Visit(pourer, write_timeout=30.0)
    visit.wire.stop_reading()
    await visit.send(get())
    assert HIGH < visit.wire.get_write_buffer_size() < HIGH + 20_000
    await visit.pass_time(29)
    assert (visit.wire.ended, pourer.error) == ("", None)
    await visit.pass_time(1)
    assert (visit.wire.ended, isinstance(pourer.error, OSError)) == ("abort", True)
    assert not visit.house._tasks
    await visit.leave()


async def test_client_that_reads_slowly_is_not_cut_off() -> None:
    """A long answer on a thin line: what counts is that it goes on, not when it is through."""
    visit = Visit(answering(b"x" * 1_000_000), write_timeout=30.0)
    visit.wire.stop_reading()
    await visit.send(get())
    for _ in range(9):
        visit.wire.read(100_000)
        await visit.pass_time(30)
        assert not visit.wire.ended
    visit.wire.read()
    await visit.send(get())
    assert len(visit.answers("GET", "GET")) == 2
    await visit.leave()


async def test_client_that_reads_next_to_nothing_is_cut_off() -> None:
    visit = Visit(answering(b"x" * 1_000_000), write_timeout=30.0)
    visit.wire.stop_reading()
    await visit.send(get())
    visit.wire.read(1000)
    await visit.pass_time(30)
    assert visit.wire.ended == "abort"
    await visit.leave()


async def test_client_that_sends_but_does_not_read_is_cut_off() -> None:
    visit = Visit(answering(b"x" * 100_000), write_timeout=30.0)
    visit.wire.stop_reading()
    await visit.send(get() * 3)
    await visit.pass_time(30)
    assert visit.wire.ended == "abort"
    await visit.leave()


@pytest.mark.parametrize("line", [b"x: y", b"connection: close"])
async def test_little_that_is_never_read_does_not_keep_a_connection_open(line: bytes) -> None:
    """Too little to count as congestion; yet to close means to wait until it has left."""
    visit = Visit(answering(b"x" * 1000), keep_alive=60.0, write_timeout=30.0)
    visit.wire.stop_reading()
    await visit.send(get(b"/", line))
    assert not visit.connection.congested
    await visit.pass_time(60)
    if line == b"x: y":
        assert (visit.wire.ended, visit.wire.lost) == ("close", False)
        await visit.pass_time(30)
    assert (visit.wire.ended, visit.wire.lost) == ("abort", True)
    await visit.leave()


async def test_refused_client_that_does_not_read_is_cut_off() -> None:
    visit = Visit(not_reached)
    visit.wire.stop_reading()
    await visit.send(b"hello\r\n\r\n")
    assert visit.wire.ended == "eof"
    await visit.pass_time(2)
    assert (visit.wire.ended, visit.wire.lost) == ("close", False)
    await visit.pass_time(30)
    assert (visit.wire.ended, visit.wire.lost) == ("abort", True)
    await visit.leave()


async def test_client_that_reads_again_may_stay() -> None:
    visit = Visit(answering(b"x" * 100_000), write_timeout=30.0, keep_alive=60.0)
    visit.wire.stop_reading()
    await visit.send(get())
    await visit.pass_time(29)
    visit.wire.read()
    await visit.pass_time(59)
    assert not visit.wire.ended
    await visit.send(get())
    assert len(visit.answers("GET", "GET")) == 2
    await visit.leave()
