"""Requests that end early: cancelled by the client, closed with the session, or timed out."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from assay import AskError, Context, Limits, Server, ToolError
from tests.server.scripted import GUARD, ScriptedClient, finished, quiescence, reached


class HandlerError(Exception):
    """Raised by a handler under test."""


class Stuck:
    """A server with one `async def` tool that waits until it is cancelled, then calls `leave`."""

    def __init__(self, leave: Any = None, **options: Any) -> None:
        self.started, self.ended = asyncio.Event(), asyncio.Event()
        self.server = Server("test", **options)
        self.server.tools.add(self.work)
        self.server.resources.add("r://work", self.work)
        self.server.prompts.add(self.work)
        self.leave = leave

    async def work(self) -> str:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended.set()
            if self.leave is None:
                raise
            if isinstance(self.leave, BaseException):
                raise self.leave from None
            return str(self.leave)
        raise AssertionError("not reached")


REQUESTS = {
    "tools/call": {"name": "work"},
    "resources/read": {"uri": "r://work"},
    "prompts/get": {"name": "work"},
}


@pytest.mark.parametrize("method", REQUESTS)
@pytest.mark.parametrize(
    "leave",
    [
        None,
        "swallowed",
        ToolError("late"),
        AskError("late"),
        HandlerError("late"),
        ExceptionGroup("late", [HandlerError()]),
    ],
)
async def test_cancelled_request_is_not_answered(leave: Any, method: str) -> None:
    stuck = Stuck(leave)
    async with ScriptedClient(stuck.server) as client:
        task = asyncio.create_task(client.request(method, **REQUESTS[method]))
        await reached(stuck.started)
        await client.cancel(2)
        assert (await finished(task), stuck.ended.is_set(), client.received_so_far()) == (None, True, [])
        assert client.session.in_flight == {}


async def test_task_survives_a_cancelled_request() -> None:
    """A transport may serve many requests in one task, which must survive our cancellation."""
    stuck = Stuck("swallowed")
    async with ScriptedClient(stuck.server) as client:

        async def serve_two() -> Any:
            return [await client.request("tools/call", name="work"), await client.request("ping")]

        task = asyncio.create_task(serve_two())
        await reached(stuck.started)
        await client.cancel(2)
        assert await finished(task) == [None, {"jsonrpc": "2.0", "id": 3, "result": {}}]
        assert task.cancelling() == 0


@pytest.mark.parametrize(
    "params",
    [{"requestId": 99}, {"requestId": "2"}, {"requestId": None}, {"requestId": 2.0}, {}, {"reason": "x"}],
)
async def test_cancellation_of_something_else_is_ignored(params: dict[str, Any]) -> None:
    stuck = Stuck()
    async with ScriptedClient(stuck.server) as client:
        task = client.start_call("work")
        await reached(stuck.started)
        await client.notify("notifications/cancelled", **params)
        await quiescence()
        assert (task.done(), stuck.ended.is_set()) == (False, False)
        await client.cancel(2)
        assert await finished(task) is None


async def test_cancellation_reaches_only_its_own_session() -> None:
    stuck = Stuck()
    async with ScriptedClient(stuck.server) as client, ScriptedClient(stuck.server) as other:
        task = client.start_call("work")
        await reached(stuck.started)
        await other.cancel(2)
        await quiescence()
        assert task.done() is False
        await client.cancel(2)
        assert await finished(task) is None


async def test_late_cancellation_is_ignored() -> None:
    server = Server("test")
    server.tools.add(lambda: "done", name="work")
    async with ScriptedClient(server) as client:
        before = await client.request("tools/call", name="work")
        await client.cancel(2)
        assert (before["id"], (await client.request("ping"))["id"]) == (2, 3)


async def test_closing_the_session_cancels_its_requests() -> None:
    stuck = Stuck()
    async with ScriptedClient(stuck.server) as client:
        task = client.start_call("work")
        await reached(stuck.started)
    assert (await finished(task), stuck.ended.is_set(), len(stuck.server.notifier)) == (None, True, 0)


async def test_cancellation_by_the_host_propagates() -> None:
    """Only our own cancellation becomes an outcome."""
    stuck = Stuck()
    async with ScriptedClient(stuck.server) as client:
        task = client.start_call("work")
        await reached(stuck.started)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert client.session.in_flight == {}


async def test_id_in_use_is_refused_and_the_first_request_continues() -> None:
    stuck = Stuck()
    async with ScriptedClient(stuck.server) as client:
        task = client.start_call("work")
        await reached(stuck.started)
        again = await client.deliver({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert (again["error"]["code"], again["id"], task.done()) == (-32600, 2, False)
        await client.cancel(2)
        assert await finished(task) is None


class StuckThread:
    """A server with one `def` tool whose thread waits for `release`."""

    def __init__(self, **options: Any) -> None:
        self.release, self.left = threading.Event(), threading.Event()
        self.started = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.captured: list[Any] = []
        self.server = Server("test", **options)
        self.server.tools.add(self.work)

    def work(self, ctx: Context) -> str:
        self.loop.call_soon_threadsafe(self.started.set)
        self.release.wait(GUARD)
        try:
            self.captured.append(ctx.cancelled)
            ctx.wait(ctx.progress(1))
        except Exception as error:
            self.captured.append(type(error).__name__)
        finally:
            self.left.set()
        return "late"


async def test_thread_sees_that_its_request_was_cancelled() -> None:
    stuck = StuckThread()
    async with ScriptedClient(stuck.server) as client:
        task = client.start_call("work")
        await reached(stuck.started)
        await client.cancel(2)
        assert await finished(task) is None
        stuck.release.set()
        await asyncio.to_thread(stuck.left.wait, GUARD)
        await quiescence()
        assert (stuck.captured, client.received_so_far()) == ([True, "Cancelled"], [])


async def test_thread_that_waits_for_the_client_is_released() -> None:
    server, left = Server("test"), threading.Event()
    captured: list[str] = []

    @server.tool
    def work(ctx: Context) -> None:
        try:
            ctx.wait(ctx.roots())
        except Exception as error:
            captured.append(type(error).__name__)
        left.set()

    async with ScriptedClient(server, capabilities={"roots": {}}) as client:
        task = client.start_call("work")
        question = await client.receive()
        await client.cancel(2)
        assert await finished(task) is None
        assert await asyncio.to_thread(left.wait, GUARD) is True
        withdrawn = await client.receive()
        assert (captured, withdrawn["method"], withdrawn["params"]["requestId"]) == (
            ["Cancelled"],
            "notifications/cancelled",
            question["id"],
        )


class Clock:
    """A manual clock for the loop's timers."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.now = loop.time()
        loop.time = lambda: self.now  # type: ignore[method-assign]

    async def advance(self, seconds: float) -> None:
        self.now += seconds
        await quiescence()


@pytest.fixture
async def clock() -> Clock:
    return Clock(asyncio.get_running_loop())


PATIENT = Limits(idle_timeout=2.0)
TIMED_OUT = {
    "content": [{"type": "text", "text": "tool work timed out: no activity for 2 s"}],
    "isError": True,
}


async def test_idle_handler_times_out(clock: Clock) -> None:
    stuck = Stuck(limits=PATIENT)
    async with ScriptedClient(stuck.server) as client:
        task = client.start_call("work")
        await reached(stuck.started)
        await clock.advance(1.9)
        assert task.done() is False
        await clock.advance(0.2)
        assert ((await task)["result"], stuck.ended.is_set()) == (TIMED_OUT, True)


async def test_idle_read_times_out(clock: Clock) -> None:
    stuck = Stuck(limits=PATIENT)
    async with ScriptedClient(stuck.server) as client:
        task = asyncio.create_task(client.request("resources/read", uri="r://work"))
        await reached(stuck.started)
        await clock.advance(2.1)
        error = (await task)["error"]
        assert (error["code"], error["data"]) == (-32603, {"uri": "r://work"})


async def test_idle_timeout_can_be_disabled(clock: Clock) -> None:
    stuck = Stuck(limits=Limits(idle_timeout=None))
    async with ScriptedClient(stuck.server) as client:
        task = client.start_call("work")
        await reached(stuck.started)
        # Not more: the client's own timeout uses the same clock.
        await clock.advance(4.9)
        assert task.done() is False
        await client.cancel(2)
        assert await finished(task) is None


async def keep_alive(ctx: Context) -> None:
    ctx.keep_alive()


async def report(ctx: Context) -> None:
    await ctx.progress(1)


async def write_log(ctx: Context) -> None:
    await ctx.log("debug", "not even sent")


@pytest.mark.parametrize("sign", [keep_alive, report, write_log])
async def test_activity_restarts_the_idle_timeout(clock: Clock, sign: Any) -> None:
    server, next_step = Server("test", limits=PATIENT), asyncio.Semaphore(0)

    @server.tool
    async def work(ctx: Context) -> str:
        for _ in range(2):
            await next_step.acquire()
            await sign(ctx)
        await asyncio.Event().wait()
        raise AssertionError("not reached")

    async with ScriptedClient(server) as client:
        task = client.start_call("work")
        for _ in range(2):
            await clock.advance(1.5)
            next_step.release()
            await quiescence()
        assert task.done() is False
        await clock.advance(1.9)
        still_waiting = not task.done()
        await clock.advance(0.05)
        await clock.advance(0.06)
        assert (still_waiting, (await task)["result"]) == (True, TIMED_OUT)


async def test_waiting_for_the_client_pauses_the_idle_timeout(clock: Clock) -> None:
    server = Server("test", limits=Limits(idle_timeout=1.0))

    @server.tool
    async def work(ctx: Context) -> str:
        return (await ctx.roots())[0].uri

    async with ScriptedClient(server, capabilities={"roots": {}}) as client:
        task = client.start_call("work")
        question = await client.receive()
        for _ in range(4):
            await clock.advance(0.9)
        await client.answer(question, {"roots": [{"uri": "file:///a"}]})
        assert (await task)["result"]["content"] == [{"type": "text", "text": "file:///a"}]
