"""State shared by connections: their number, the clock, and closing."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.transport.http1.connection import REFUSED_CONNECTIONS
from assay.transport.http1.server_state import SWEEP_INTERVAL, ManagedConnection
from tests.transport.http1.memory_client import (
    MemoryClient,
    echo,
    get,
    length,
    not_reached,
    part,
    post,
    read_answers,
    settle,
    start,
)


class Doors:
    """An application whose requests wait until the test releases them."""

    def __init__(self) -> None:
        self.events: dict[str, asyncio.Event] = {}
        self.cancelled: list[str] = []

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        path = scope["path"]
        try:
            await self.events.setdefault(path, asyncio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled.append(path)
            raise
        await send(start(200, length(len(path))))
        await send(part(path.encode()))


def status_of(written: bytes) -> int:
    (answer,) = read_answers(written, ["GET"], ended=True)
    return answer.status


# The limit of connections


async def test_connections_beyond_the_limit_get_503() -> None:
    client = MemoryClient(echo, connections=2)
    second, _ = client.connect()
    third, _ = client.connect()
    assert (second.written, status_of(third.written), third.ended) == (b"", 503, "eof")
    third.deliver(get())  # is not read
    await client.send(get())
    assert client.answer.status == 200
    await client.pass_time(3)
    assert third.lost
    await client.leave()


async def test_connections_far_beyond_the_limit_are_aborted() -> None:
    client = MemoryClient(echo, connections=1)
    crowd = [client.connect()[0] for _ in range(REFUSED_CONNECTIONS + 50)]
    assert [each.ended for each in crowd] == ["eof"] * REFUSED_CONNECTIONS + ["abort"] * 50
    await settle()
    assert len(client.server._connections) == REFUSED_CONNECTIONS + 1
    await client.pass_time(3)
    assert client.server._connections == {client.connection}
    await client.leave()


async def test_disconnect_makes_room() -> None:
    client = MemoryClient(echo, connections=2)
    second, _ = client.connect()
    second.hang_up()
    await settle()
    third, _ = client.connect()
    third.deliver(get())
    await settle()
    assert status_of(third.written) == 200
    await client.leave()


# Sweeps and dates


async def test_date_moves_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    client = MemoryClient(echo)
    await client.pass_time(1)
    await client.send(get())
    now[0] = 3600.0
    await client.pass_time(1)
    await client.send(get())
    dates = [each.headers[b"date"] for each in client.answers("GET", "GET")]
    assert dates == [b"Thu, 01 Jan 1970 00:00:00 GMT", b"Thu, 01 Jan 1970 01:00:00 GMT"]
    await client.leave()


class FailingConnection:
    """A connection whose `expire` raises."""

    deadline = 0.0
    expired = 0

    def expire(self) -> None:
        self.expired += 1
        raise RuntimeError("ours")

    def wind_down(self) -> None: ...

    def finish(self) -> None: ...

    def abort(self) -> None: ...


async def test_failing_expire_does_not_stop_the_sweeps() -> None:
    client = MemoryClient(echo)
    failing: ManagedConnection = FailingConnection()
    client.server.admit(failing)
    for _ in range(2):
        before = client.server._sweep_timer
        with pytest.raises(RuntimeError):
            client.server._sweep()
        assert client.server._sweep_timer is not before
        assert not client.server._sweep_timer.cancelled()
        before.cancel()
    assert cast(FailingConnection, failing).expired == 2
    client.server.remove(failing)
    await client.leave()


async def test_sweeps_happen_by_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.transport.http1.server_state.SWEEP_INTERVAL", SWEEP_INTERVAL / 100)
    client = MemoryClient(not_reached, head_timeout=10.0)
    client.time += 10
    async with asyncio.timeout(5):
        while not client.wire.lost:
            await settle()
    await client.leave()


# Closing


async def test_idle_connections_are_closed_at_once() -> None:
    client = await MemoryClient(echo).send(get())
    fresh, _ = client.connect()
    half, _ = client.connect()
    half.deliver(get()[:-1])
    await client.server.close(patience=60.0)
    assert [each.ended for each in (client.wire, fresh, half)] == ["close"] * 3
    assert (fresh.written, status_of(half.written)) == (b"", 503)
    assert cast(Any, client.server.app).closed == 1
    assert not client.server._connections


async def test_busy_connections_finish_and_announce_the_close() -> None:
    doors = Doors()
    client = await MemoryClient(doors).send(get(b"/busy"))
    closing = asyncio.ensure_future(client.server.close(patience=60.0))
    await settle()
    assert (client.wire.ended, closing.done()) == ("", False)
    doors.events["/busy"].set()
    await closing
    assert (client.answer.body, client.answer.headers[b"connection"]) == (b"/busy", b"close")
    assert client.wire.ended == "close"


async def test_waiting_requests_are_not_begun() -> None:
    doors = Doors()
    client = await MemoryClient(doors).send(get(b"/busy"), get(b"/never"))
    closing = asyncio.ensure_future(client.server.close(patience=60.0))
    await settle()
    doors.events["/busy"].set()
    await settle()
    assert ([each.body for each in client.answers("GET", "GET")], client.wire.ended) == ([b"/busy"], "eof")
    client.wire.hang_up()
    await closing
    assert [*doors.events] == ["/busy"]


async def test_response_that_has_begun_is_finished() -> None:
    gate = asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await send(start())
        await send(part(b"one ", more=True))
        await gate.wait()
        await send(part(b"two"))

    client = await MemoryClient(app).send(get())
    closing = asyncio.ensure_future(client.server.close(patience=60.0))
    await settle()
    gate.set()
    await closing
    assert (client.answer.body, client.wire.ended) == (b"one two", "close")


async def test_new_connection_while_closing_is_refused() -> None:
    doors = Doors()
    client = await MemoryClient(doors).send(get(b"/busy"))
    closing = asyncio.ensure_future(client.server.close(patience=60.0))
    await settle()
    late, _ = client.connect()
    (answer,) = read_answers(late.written, ["GET"], ended=True)
    assert (answer.status, answer.headers[b"connection"], answer.headers[b"retry-after"]) == (
        503,
        b"close",
        b"3",
    )
    late.hang_up()
    doors.events["/busy"].set()
    await closing


async def test_stuck_requests_are_cut_and_cancelled() -> None:
    doors = Doors()
    client = await MemoryClient(doors).send(get(b"/stuck"))
    left, _ = client.connect()
    left.deliver(get(b"/left"))
    await settle()
    left.hang_up()
    await settle()
    await client.server.close(patience=0.01)
    assert sorted(doors.cancelled) == ["/left", "/stuck"]
    assert (client.wire.ended, client.wire.written) == ("abort", b"")
    assert not client.server._connections
    assert not client.server._tasks


async def test_client_that_does_not_read_its_answer_is_cut() -> None:
    client = MemoryClient(echo)
    client.wire.stop_reading()
    await client.send(post(b"x" * 1000))
    await client.server.close(patience=0.01)
    assert client.wire.ended == "abort"


async def test_work_without_a_client_is_waited_for() -> None:
    doors = Doors()
    client = await MemoryClient(doors).send(get(b"/orphan"))
    client.wire.hang_up()
    await settle()
    closing = asyncio.ensure_future(client.server.close(patience=60.0))
    await settle()
    assert not closing.done()
    doors.events["/orphan"].set()
    await closing
    assert doors.cancelled == []


async def test_application_that_resists_cancellation_does_not_block_closing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.transport.http1.server_state.SWEEP_INTERVAL", SWEEP_INTERVAL / 100)
    resisted, release = asyncio.Event(), asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            resisted.set()
            await release.wait()

    client = await MemoryClient(app).send(get())
    await client.server.close(patience=0.01)
    assert resisted.is_set()
    release.set()
    await settle()
    assert not client.server._tasks


async def test_cancelled_close_aborts_at_once() -> None:
    """The second Ctrl-C cancels the closing."""
    doors = Doors()
    client = await MemoryClient(doors).send(get(b"/stuck"))
    closing = asyncio.ensure_future(client.server.close(patience=60.0))
    await settle()
    closing.cancel()
    await asyncio.wait([closing])
    await settle()
    assert (closing.cancelled(), client.wire.ended, client.server._sweep_timer.cancelled()) == (
        True,
        "abort",
        True,
    )
    for task in list(client.server._tasks):
        task.cancel()
    await settle()
