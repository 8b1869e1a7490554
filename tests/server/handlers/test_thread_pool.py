"""Threads for `def` handlers: started on demand, up to a limit, and never blocking exit."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from assay.server.handlers.thread_pool import ThreadPool
from tests.server.scripted import GUARD, quiescence, reached

PLACE: contextvars.ContextVar[str] = contextvars.ContextVar("PLACE", default="nowhere")


async def outcome(future: asyncio.Future[Any]) -> Any:
    async with asyncio.timeout(GUARD):
        return await future


async def test_function_runs_elsewhere_with_its_arguments() -> None:
    def add(a: int, b: int) -> Any:
        return a + b, threading.current_thread() is threading.main_thread()

    assert await outcome(ThreadPool(1).run(add, {"a": 1, "b": 2})) == (3, False)


async def test_function_sees_the_context_and_cannot_change_it() -> None:
    def visit() -> str:
        inherited = PLACE.get()
        PLACE.set("thread")
        return inherited

    token = PLACE.set("task")
    try:
        assert (await outcome(ThreadPool(1).run(visit, {})), PLACE.get()) == ("task", "task")
    finally:
        PLACE.reset(token)


async def test_exception_is_the_outcome() -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await outcome(ThreadPool(1).run(fail, {}))


async def test_stop_iteration_does_not_confuse_the_loop() -> None:
    def fail() -> None:
        raise StopIteration

    with pytest.raises(RuntimeError):
        await outcome(ThreadPool(1).run(fail, {}))


async def test_as_many_run_at_once_as_the_limit_says() -> None:
    barrier = threading.Barrier(3)
    threads = ThreadPool(3)
    futures = [threads.run(barrier.wait, {"timeout": GUARD}) for _ in range(3)]
    assert sorted([await outcome(future) for future in futures]) == [0, 1, 2]


async def test_no_more_run_at_once_than_the_limit_says() -> None:
    threads, release, running = ThreadPool(2), threading.Event(), []

    def work(number: int) -> None:
        running.append(number)
        release.wait(GUARD)

    futures = [threads.run(work, {"number": number}) for number in range(5)]
    started = len(running)
    release.set()
    for future in futures:
        await outcome(future)
    assert (started <= 2, len(running)) == (True, 5)


async def test_thread_is_reused() -> None:
    threads = ThreadPool(3)
    used = {await outcome(threads.run(threading.current_thread, {})) for _ in range(20)}
    assert len(used) <= 3


async def test_threads_do_not_keep_the_process_alive() -> None:
    assert (await outcome(ThreadPool(1).run(threading.current_thread, {}))).daemon is True


async def test_job_that_was_cancelled_in_the_queue_never_runs() -> None:
    threads, release, ran = ThreadPool(1), threading.Event(), []
    first = threads.run(release.wait, {"timeout": GUARD})
    second = threads.run(lambda: ran.append("second"), {})
    second.cancel()
    third = threads.run(lambda: "done", {})
    release.set()
    assert [await outcome(first), await outcome(third), ran] == [True, "done", []]


@pytest.mark.parametrize("cancelled", [False, True])
async def test_on_done_is_called_when_the_thread_has_finished(cancelled: bool) -> None:
    threads, release, loop = ThreadPool(1), threading.Event(), asyncio.get_running_loop()
    started, left = asyncio.Event(), asyncio.Event()

    def work() -> None:
        loop.call_soon_threadsafe(started.set)
        release.wait(GUARD)

    future = threads.run(work, {}, left.set)
    await reached(started)
    if cancelled:
        future.cancel()
    await quiescence()
    assert left.is_set() is False
    release.set()
    await reached(left)


async def test_outcome_of_a_cancelled_job_is_discarded() -> None:
    threads, release = ThreadPool(1), threading.Event()
    first = threads.run(release.wait, {"timeout": GUARD})
    first.cancel()
    release.set()
    assert await outcome(threads.run(lambda: "done", {})) == "done"
    await quiescence()
    assert first.cancelled() is True


def test_closed_loop_is_not_called() -> None:
    threads, release = ThreadPool(1), threading.Event()
    left = threading.Event()

    def work() -> None:
        release.wait(GUARD)

    async def leave() -> None:
        threads.run(work, {}).cancel()

    asyncio.run(leave())
    release.set()

    async def again() -> Any:
        return await outcome(threads.run(left.set, {}))

    asyncio.run(again())
    assert left.is_set() is True


class Workshop:
    """Jobs that report their start, and end when the test says so."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.started: asyncio.Queue[str] = asyncio.Queue()
        self.release = threading.Event()

    def work(self, name: str) -> str:
        self.loop.call_soon_threadsafe(self.started.put_nowait, name)
        self.release.wait(GUARD)
        return name

    async def next(self) -> str:
        async with asyncio.timeout(GUARD):
            return await self.started.get()


async def test_clients_take_turns() -> None:
    threads, shop = ThreadPool(1), Workshop()
    threads.run(shop.work, {"name": "a1"}, client="a")
    assert await shop.next() == "a1"
    for name in ("a2", "a3", "a4", "b1"):
        threads.run(shop.work, {"name": name}, client=name[0])
    shop.release.set()
    assert [await shop.next() for _ in range(4)] == ["a2", "b1", "a3", "a4"]


async def test_job_that_was_cancelled_in_the_queue_is_done_at_once() -> None:
    threads, shop, done = ThreadPool(1), Workshop(), asyncio.Event()
    threads.run(shop.work, {"name": "first"})
    await shop.next()
    threads.run(shop.work, {"name": "second"}, done.set).cancel()
    await reached(done)
    assert len(threads._jobs) == 0
    shop.release.set()


async def test_thread_whose_call_has_ended_is_replaced_up_to_a_bound() -> None:
    threads, shop = ThreadPool(2, spare=2), Workshop()
    for number in range(4):
        future = threads.run(shop.work, {"name": str(number)})
        assert await shop.next() == str(number)
        future.cancel()
        await quiescence()
    last = threads.run(shop.work, {"name": "last"})
    await quiescence()
    assert (shop.started.empty(), threads.is_full) == (True, True)
    shop.release.set()
    assert await outcome(last) == "last"


async def test_spare_threads_end_with_the_need_for_them() -> None:
    threads, shop = ThreadPool(1, spare=3), Workshop()
    for _ in range(4):
        threads.run(shop.work, {"name": ""}).cancel()
        threads.run(shop.work, {"name": ""}).cancel()
    futures = [threads.run(shop.work, {"name": client}, client=client) for client in "abcd"]
    shop.release.set()
    for future in futures:
        await outcome(future)
    assert await outcome(threads.run(lambda: "done", {})) == "done"
    assert (threads._count, threads._overdue, threads._running) == (1, 0, {})


async def test_client_without_a_thread_gets_a_spare_one() -> None:
    threads, shop = ThreadPool(2, spare=1), Workshop()
    for name in ("a1", "a2", "a3"):
        threads.run(shop.work, {"name": name}, client="a")
    assert {await shop.next(), await shop.next()} == {"a1", "a2"}
    threads.run(shop.work, {"name": "b1"}, client="b")
    assert await shop.next() == "b1"
    threads.run(shop.work, {"name": "c1"}, client="c")
    await quiescence()
    assert shop.started.empty()
    shop.release.set()


async def test_job_that_outlives_its_call_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    threads, shop = ThreadPool(1, spare=1, patience=0), Workshop()
    future = threads.run(shop.work, {"name": "x"}, name="slow_tool")
    await shop.next()
    future.cancel()
    await quiescence()
    (record,) = caplog.records
    assert "slow_tool still runs after 0 s in thread assay-handler-1" in record.getMessage()
    assert "1 such threads, of which 1 are replaced" in record.getMessage()
    shop.release.set()


async def test_job_that_ends_in_time_is_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    threads, shop, left = ThreadPool(1, patience=0), Workshop(), asyncio.Event()
    future = threads.run(shop.work, {"name": "x"}, left.set)
    await shop.next()
    shop.release.set()
    await outcome(future)
    await reached(left)
    await quiescence()
    assert caplog.records == []
