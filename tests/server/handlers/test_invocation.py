"""Running handlers: in the event loop or in a thread, within the limits."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from assay import Context, Limits, Scope, Server
from tests.server.scripted import GUARD, ScriptedClient, call, finished, quiescence, reached


class Room:
    """An `async def` tool whose calls wait until they are released one by one."""

    def __init__(self, **options: Any) -> None:
        self.inside: list[int] = []
        self.most = 0
        self.doors = asyncio.Semaphore(0)
        self.server = Server("test", limits=Limits(**options))

    async def work(self, number: int) -> int:
        self.inside.append(number)
        self.most = max(self.most, len(self.inside))
        try:
            await self.doors.acquire()
        finally:
            self.inside.remove(number)
        return number


async def enter(client: ScriptedClient, tool: str, count: int) -> list[asyncio.Task[Any]]:
    tasks = [client.start_call(tool, number=number) for number in range(count)]
    await quiescence()
    return tasks


async def let_out(room: Room, tasks: list[asyncio.Task[Any]]) -> list[Any]:
    for _ in tasks:
        room.doors.release()
    return [(await finished(task))["result"]["structuredContent"]["result"] for task in tasks]


async def test_no_more_handlers_run_at_once_than_the_server_allows() -> None:
    room = Room(concurrency=2)
    room.server.tools.add(room.work)
    async with ScriptedClient(room.server) as client:
        tasks = await enter(client, "work", 5)
        assert room.inside == [0, 1]
        assert await let_out(room, tasks) == [0, 1, 2, 3, 4]
        assert room.most == 2


async def test_no_more_calls_of_a_tool_run_at_once_than_it_allows() -> None:
    room = Room(concurrency=9)
    room.server.tools.add(room.work, concurrency=1)
    room.server.tools.add(room.work, name="free")
    async with ScriptedClient(room.server) as client:
        tasks = await enter(client, "work", 3)
        free = await enter(client, "free", 2)
        assert sorted(room.inside) == [0, 0, 1]
        assert await let_out(room, [*tasks, *free]) == [0, 1, 2, 0, 1]


async def test_tool_that_waits_for_its_own_limit_does_not_block_others() -> None:
    room = Room(concurrency=2)
    room.server.tools.add(room.work, concurrency=1)
    room.server.tools.add(room.work, name="other")
    async with ScriptedClient(room.server) as client:
        tasks = await enter(client, "work", 3)
        others = await enter(client, "other", 1)
        assert len(room.inside) == 2
        await let_out(room, [*tasks, *others])


async def test_request_beyond_the_backlog_is_refused_as_busy() -> None:
    room = Room(concurrency=1, backlog=1)
    room.server.tools.add(room.work)
    async with ScriptedClient(room.server) as client:
        tasks = await enter(client, "work", 2)
        refused = await client.error("tools/call", name="work", arguments={"number": 9})
        assert (refused["code"], "busy" in refused["message"]) == (-31004, True)
        assert await let_out(room, tasks) == [0, 1]


async def test_request_cancelled_in_the_queue_never_runs() -> None:
    room = Room(concurrency=1)
    room.server.tools.add(room.work)
    async with ScriptedClient(room.server) as client:
        tasks = await enter(client, "work", 3)
        await client.cancel(3)
        assert await finished(tasks[1]) is None
        assert await let_out(room, [tasks[0], tasks[2]]) == [0, 2]
        assert room.most == 1


@pytest.mark.parametrize("is_async", [True, False])
async def test_request_whose_client_leaves_the_queue_never_runs(is_async: bool) -> None:
    server = Server("test", limits=Limits(threads=1, concurrency=1 if is_async else 9))
    loop, release, left = asyncio.get_running_loop(), threading.Event(), asyncio.Event()
    started: list[int] = []

    def work(number: int) -> int:
        started.append(number)
        release.wait(GUARD)
        return number

    async def work_in_loop(number: int) -> int:
        return await loop.run_in_executor(None, work, number)

    server.tools.add(work_in_loop if is_async else work, name="work")
    scope = Scope(departure=left.wait, disconnect_cancels=False)

    def start(number: int, scope: Scope) -> asyncio.Task[Any]:
        params = {"name": "work", "arguments": {"number": number}}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return asyncio.create_task(server.handle(message, scope=scope))

    tasks = [start(1, scope), start(2, scope), start(3, Scope())]
    await quiescence()
    left.set()
    assert await finished(tasks[1]) is None
    release.set()
    assert [b'"result":1' in await finished(tasks[0]), b'"result":3' in await finished(tasks[2])] == [
        True
    ] * 2
    assert started == [1, 3]


@pytest.mark.parametrize("failure", [ValueError, asyncio.CancelledError])
async def test_limit_is_released_after_a_failure(failure: type[BaseException]) -> None:
    server, started = Server("test", limits=Limits(concurrency=1)), asyncio.Event()

    @server.tool
    async def fail() -> None:
        started.set()
        if failure is ValueError:
            await asyncio.to_thread(int, "x")
        await asyncio.Event().wait()

    server.tools.add(lambda: "done", name="after")
    async with ScriptedClient(server) as client:
        task = client.start_call("fail")
        await reached(started)
        if failure is asyncio.CancelledError:
            await client.cancel(2)
        await finished(task)
        assert await client.text_of("after") == "done"


async def test_requests_of_one_client_are_served_at_once() -> None:
    server, barrier = Server("test"), asyncio.Barrier(5)

    @server.tool
    async def meet() -> str:
        await barrier.wait()
        return "met"

    async with ScriptedClient(server) as client:
        tasks = [client.start_call("meet") for _ in range(5)]
        texts = [(await finished(task))["result"]["content"][0]["text"] for task in tasks]
        assert texts == ["met"] * 5


async def test_def_handlers_run_at_once_and_do_not_block_the_loop() -> None:
    server, barrier = Server("test"), threading.Barrier(4)

    @server.tool
    def meet() -> str:
        barrier.wait(GUARD)
        return "met"

    async with ScriptedClient(server) as client:
        tasks = [client.start_call("meet") for _ in range(3)]
        await quiescence()
        pong = await client.result("ping")
        await asyncio.to_thread(barrier.wait, GUARD)
        texts = [(await finished(task))["result"]["content"][0]["text"] for task in tasks]
        assert (pong, texts) == ({}, ["met"] * 3)


async def test_def_handlers_obey_the_limit_of_threads() -> None:
    server = Server("test", limits=Limits(threads=1))
    running: list[int] = []
    most: list[int] = []

    @server.tool
    def work(number: int) -> int:
        running.append(number)
        most.append(len(running))
        running.remove(number)
        return number

    async with ScriptedClient(server) as client:
        for task in await enter(client, "work", 10):
            await finished(task)
        assert most == [1] * 10


@pytest.mark.parametrize("limit", ["server", "tool"])
async def test_cancelled_thread_holds_its_limit_until_it_ends(limit: str) -> None:
    """A thread cannot be stopped, so starting another one would exceed the limit."""
    server = Server("test", limits=Limits(concurrency=1 if limit == "server" else 9))
    release, started, loop = threading.Event(), asyncio.Queue[int](), asyncio.get_running_loop()

    def work(number: int) -> int:
        loop.call_soon_threadsafe(started.put_nowait, number)
        release.wait(GUARD)
        return number

    server.tools.add(work, concurrency=1 if limit == "tool" else None)
    async with ScriptedClient(server) as client:
        tasks = [client.start_call("work", number=number) for number in (1, 2)]
        first = await asyncio.wait_for(started.get(), GUARD)
        await client.cancel(2)
        cancelled = await finished(tasks[0])
        await quiescence()
        assert (first, cancelled, started.empty()) == (1, None, True)
        release.set()
        assert (await finished(tasks[1]))["result"]["structuredContent"] == {"result": 2}


async def test_async_handler_runs_in_the_event_loop() -> None:
    server = Server("test")
    captured: list[Any] = []

    @server.tool
    async def work() -> None:
        captured.append((threading.get_ident(), asyncio.current_task()))

    await call(server, "work")
    assert captured[0][0] == threading.get_ident()


async def test_async_handler_may_suspend_fail_and_catch_as_usual() -> None:
    """Its first step is taken by hand; exceptions and results must still pass through."""
    server = Server("test")

    @server.tool
    async def work() -> str:
        loop = asyncio.get_running_loop()
        failing, quick = loop.create_future(), loop.create_future()
        loop.call_soon(failing.set_exception, KeyError("x"))
        try:
            await failing
        except KeyError:
            loop.call_soon(quick.set_result, "caught")
        async with asyncio.timeout(GUARD):
            return str(await quick)

    assert (await call(server, "work"))["content"] == [{"type": "text", "text": "caught"}]


async def test_time_limit_inside_a_handler_works() -> None:
    """`asyncio.timeout` cancels the current task: it must be the one that runs the handler."""
    server = Server("test")

    @server.tool
    async def work() -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            return "timed out"
        raise AssertionError("not reached")

    assert (await call(server, "work"))["content"] == [{"type": "text", "text": "timed out"}]


class Awaitable_:
    def __init__(self, value: str) -> None:
        self.value = value

    def __await__(self) -> Any:
        return asyncio.wait_for(asyncio.to_thread(str, self.value), GUARD).__await__()


class Odd:
    """An async callable that returns an awaitable other than a coroutine."""

    async def __call__(self, ctx: Context) -> str:
        return str(await Awaitable_("odd"))


async def test_object_with_an_async_call_is_awaited() -> None:
    server = Server("test")
    server.tools.add(Odd(), name="odd")
    assert (await call(server, "odd"))["content"] == [{"type": "text", "text": "odd"}]
