"""What connections share: room, time, and an end in order."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.transport.http1.connection import CROWD
from assay.transport.http1.house import GLANCE, Guest
from tests.transport.http1.visit import (
    Visit,
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
    """An application whose requests wait until theirs is opened."""

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


# Room


async def test_connections_beyond_the_limit_are_told_so() -> None:
    visit = Visit(echo, connections=2)
    second, _ = visit.connect()
    third, _ = visit.connect()
    assert (second.written, status_of(third.written), third.ended) == (b"", 503, "eof")
    third.deliver(get())  # is not even looked at
    await visit.send(get())
    assert visit.answer.status == 200
    await visit.pass_time(3)
    assert third.lost
    await visit.leave()


async def test_crowd_beyond_the_limit_is_not_even_told() -> None:
    visit = Visit(echo, connections=1)
    crowd = [visit.connect()[0] for _ in range(CROWD + 50)]
    assert [each.ended for each in crowd] == ["eof"] * CROWD + ["abort"] * 50
    await settle()
    assert len(visit.house._connections) == CROWD + 1
    await visit.pass_time(3)
    assert visit.house._connections == {visit.connection}
    await visit.leave()


async def test_whoever_leaves_makes_room() -> None:
    visit = Visit(echo, connections=2)
    second, _ = visit.connect()
    second.hang_up()
    await settle()
    third, _ = visit.connect()
    third.deliver(get())
    await settle()
    assert status_of(third.written) == 200
    await visit.leave()


# Time


async def test_date_moves_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    visit = Visit(echo)
    await visit.pass_time(1)
    await visit.send(get())
    now[0] = 3600.0
    await visit.pass_time(1)
    await visit.send(get())
    dates = [each.headers[b"date"] for each in visit.answers("GET", "GET")]
    assert dates == [b"Thu, 01 Jan 1970 00:00:00 GMT", b"Thu, 01 Jan 1970 01:00:00 GMT"]
    await visit.leave()


class Clumsy:
    """A guest that fails when its time has come."""

    due = 0.0
    expired = 0

    def expire(self) -> None:
        self.expired += 1
        raise RuntimeError("ours")

    def finish(self) -> None: ...

    def abort(self) -> None: ...


async def test_one_that_fails_does_not_stop_the_looking() -> None:
    visit = Visit(echo)
    clumsy: Guest = Clumsy()
    visit.house.admit(clumsy)
    for _ in range(2):
        before = visit.house._glance
        with pytest.raises(RuntimeError):
            visit.house._look()
        assert visit.house._glance is not before
        assert not visit.house._glance.cancelled()
        before.cancel()
    assert cast(Clumsy, clumsy).expired == 2
    visit.house.forget(clumsy)
    await visit.leave()


async def test_house_looks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.transport.http1.house.GLANCE", GLANCE / 100)
    visit = Visit(not_reached, head_timeout=10.0)
    visit.time += 10
    async with asyncio.timeout(5):
        while not visit.wire.lost:
            await settle()
    await visit.leave()


# The end


async def test_idle_connections_are_closed_at_once() -> None:
    visit = await Visit(echo).send(get())
    fresh, _ = visit.connect()
    half, _ = visit.connect()
    half.deliver(get()[:-1])
    await visit.house.close(patience=60.0)
    assert [each.ended for each in (visit.wire, fresh, half)] == ["close"] * 3
    assert cast(Any, visit.house.app).closed == 1
    assert not visit.house._connections


async def test_busy_connections_may_finish_and_say_that_they_close() -> None:
    doors = Doors()
    visit = await Visit(doors).send(get(b"/busy"))
    closing = asyncio.ensure_future(visit.house.close(patience=60.0))
    await settle()
    assert (visit.wire.ended, closing.done()) == ("", False)
    doors.events["/busy"].set()
    await closing
    assert (visit.answer.body, visit.answer.headers[b"connection"]) == (b"/busy", b"close")
    assert visit.wire.ended == "close"


async def test_requests_in_line_are_not_begun_any_more() -> None:
    doors = Doors()
    visit = await Visit(doors).send(get(b"/busy"), get(b"/never"))
    closing = asyncio.ensure_future(visit.house.close(patience=60.0))
    await settle()
    doors.events["/busy"].set()
    await settle()
    assert ([each.body for each in visit.answers("GET", "GET")], visit.wire.ended) == ([b"/busy"], "eof")
    visit.wire.hang_up()
    await closing
    assert [*doors.events] == ["/busy"]


async def test_answer_that_has_begun_is_finished() -> None:
    gate = asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await send(start())
        await send(part(b"one ", more=True))
        await gate.wait()
        await send(part(b"two"))

    visit = await Visit(app).send(get())
    closing = asyncio.ensure_future(visit.house.close(patience=60.0))
    await settle()
    gate.set()
    await closing
    assert (visit.answer.body, visit.wire.ended) == (b"one two", "close")


async def test_connection_that_comes_while_closing_is_sent_away() -> None:
    doors = Doors()
    visit = await Visit(doors).send(get(b"/busy"))
    closing = asyncio.ensure_future(visit.house.close(patience=60.0))
    await settle()
    late, _ = visit.connect()
    assert (late.ended, late.written) == ("close", b"")
    doors.events["/busy"].set()
    await closing


async def test_what_is_stuck_is_cut_and_cancelled() -> None:
    doors = Doors()
    visit = await Visit(doors).send(get(b"/stuck"))
    left, _ = visit.connect()
    left.deliver(get(b"/left"))
    await settle()
    left.hang_up()
    await settle()
    await visit.house.close(patience=0.01)
    assert sorted(doors.cancelled) == ["/left", "/stuck"]
    assert (visit.wire.ended, visit.wire.written) == ("abort", b"")
    assert not visit.house._connections
    assert not visit.house._tasks


async def test_client_that_does_not_read_its_answer_is_cut() -> None:
    visit = Visit(echo)
    visit.wire.stop_reading()
    await visit.send(post(b"x" * 1000))
    await visit.house.close(patience=0.01)
    assert visit.wire.ended == "abort"


async def test_work_without_a_client_is_waited_for() -> None:
    doors = Doors()
    visit = await Visit(doors).send(get(b"/orphan"))
    visit.wire.hang_up()
    await settle()
    closing = asyncio.ensure_future(visit.house.close(patience=60.0))
    await settle()
    assert not closing.done()
    doors.events["/orphan"].set()
    await closing
    assert doors.cancelled == []


async def test_application_that_resists_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.transport.http1.house.GLANCE", GLANCE / 100)
    resisted, release = asyncio.Event(), asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            resisted.set()
            await release.wait()

    visit = await Visit(app).send(get())
    await visit.house.close(patience=0.01)
    assert resisted.is_set()
    release.set()
    await settle()
    assert not visit.house._tasks


async def test_impatience_cuts_at_once() -> None:
    """The second Ctrl-C cancels the closing."""
    doors = Doors()
    visit = await Visit(doors).send(get(b"/stuck"))
    closing = asyncio.ensure_future(visit.house.close(patience=60.0))
    await settle()
    closing.cancel()
    await asyncio.wait([closing])
    await settle()
    assert (closing.cancelled(), visit.wire.ended, visit.house._glance.cancelled()) == (True, "abort", True)
    for task in list(visit.house._tasks):
        task.cancel()
    await settle()
