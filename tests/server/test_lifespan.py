"""The lifespan of a server: entered once, before the first message, and exited after the last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from assay import Context, RegistrationError, Server
from assay.model.error import LifespanFailed
from tests.server.scripted import GUARD, ScriptedClient, ask, call, quiescence, reached


class Diary:
    """What happened, in order."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.may_start = asyncio.Event()
        self.may_start.set()
        self.starting = asyncio.Event()

    @asynccontextmanager
    async def lifespan(self, server: Server) -> AsyncIterator[dict[str, str]]:
        self.starting.set()
        await self.may_start.wait()
        self.entries.append(f"enter {server.info.name}")
        try:
            yield {"state": "ready"}
        finally:
            self.entries.append("exit")


def make_server(diary: Diary) -> Server:
    server = Server("shop", lifespan=diary.lifespan)

    @server.tool
    async def state(ctx: Context) -> str:
        return str(ctx.lifespan["state"])

    return server


async def test_handler_gets_what_the_lifespan_has_yielded() -> None:
    diary = Diary()
    async with make_server(diary) as server:
        for _ in range(2):
            assert (await call(server, "state"))["content"][0]["text"] == "ready"
        assert diary.entries == ["enter shop"]
    assert diary.entries == ["enter shop", "exit"]


async def test_def_handler_gets_it_too() -> None:
    async with make_server(Diary()) as server:

        @server.tool
        def from_thread(ctx: Context) -> str:
            return str(ctx.lifespan["state"])

        assert (await call(server, "from_thread"))["content"][0]["text"] == "ready"


async def test_concurrent_first_messages_start_it_once() -> None:
    diary = Diary()
    server = make_server(diary)
    diary.may_start.clear()
    calls = [asyncio.create_task(call(server, "state")) for _ in range(5)]
    await reached(diary.starting)
    await quiescence()
    assert diary.entries == []
    diary.may_start.set()
    answers = await asyncio.gather(*calls)
    assert {answer["content"][0]["text"] for answer in answers} == {"ready"}
    assert diary.entries == ["enter shop"]
    await server.stop()


async def test_stopped_server_can_be_started_again() -> None:
    diary = Diary()
    server = make_server(diary)
    for _ in range(3):
        async with server:
            assert (await call(server, "state"))["content"][0]["text"] == "ready"
    assert diary.entries == ["enter shop", "exit"] * 3


async def test_message_after_the_stop_starts_it_again() -> None:
    diary = Diary()
    server = make_server(diary)
    async with server:
        pass
    assert (await call(server, "state"))["content"][0]["text"] == "ready"
    await server.stop()
    await server.stop()
    assert diary.entries == ["enter shop", "exit"] * 2


async def test_use_from_code_starts_it() -> None:
    diary = Diary()
    server = make_server(diary)
    assert (await server.tools.call("state")).content[0].text == "ready"  # type: ignore[union-attr]
    await server.stop()
    assert diary.entries == ["enter shop", "exit"]


async def test_session_starts_it_with_its_first_message() -> None:
    diary = Diary()
    async with ScriptedClient(make_server(diary)) as client:
        assert await client.text_of("state") == "ready"
    assert diary.entries == ["enter shop"]
    await client.server.stop()


async def test_batch_starts_it() -> None:
    diary = Diary()
    async with ScriptedClient(make_server(diary), revision="2025-03-26") as client:
        await client.server.stop()
        message = b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]'
        answer = await client.server.handle(message, scope=client.scope)
    assert answer == b'[{"jsonrpc":"2.0","id":1,"result":{}}]'
    await client.server.stop()


async def test_background_tasks_run_inside_the_lifespan() -> None:
    diary = Diary()
    server = make_server(diary)
    running = asyncio.Event()

    @server.background
    async def work() -> None:
        diary.entries.append("work")
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            diary.entries.append("end of work")

    async with server:
        await reached(running)
    assert diary.entries == ["enter shop", "work", "end of work", "exit"]


async def test_calls_end_before_the_lifespan() -> None:
    diary = Diary()
    server = make_server(diary)
    begun, release = asyncio.Event(), asyncio.Event()

    @server.tool
    async def hold(ctx: Context) -> str:
        begun.set()
        await release.wait()
        diary.entries.append("call")
        return str(ctx.lifespan["state"])

    async with server:
        holding = asyncio.create_task(call(server, "hold"))
        await reached(begun)
        asyncio.get_running_loop().call_soon(release.set)
    assert (await holding)["content"][0]["text"] == "ready"
    assert diary.entries == ["enter shop", "call", "exit"]


async def test_task_group_may_span_the_lifespan() -> None:
    # It must be exited by the task that entered it.
    ended = asyncio.Event()

    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            task = group.create_task(asyncio.Event().wait())
            yield
            task.cancel()
        ended.set()

    server = Server("test", lifespan=lifespan)
    await asyncio.create_task(_awaited(server.start()))
    await asyncio.create_task(server.stop())
    assert ended.is_set()


async def _awaited(started: Any) -> None:
    await started


async def test_failed_start_names_exception_and_line() -> None:
    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        raise ConnectionError("no database\n at db:5432")
        yield

    server = Server("shop", lifespan=lifespan)
    with pytest.raises(LifespanFailed) as failure:
        await server.start()
    text = str(failure.value)
    assert text.startswith("the lifespan of server shop failed: ConnectionError: no database␊ at db:5432 (")
    assert "test_lifespan.py, line " in text and "\n" not in text
    assert isinstance(failure.value.__cause__, ConnectionError)


async def test_failed_start_is_answered_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    attempts: list[int] = []

    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[str]:
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("no database")
        yield "ready"

    server = Server("shop", lifespan=lifespan)
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await ask(server, "ping"))["error"] == {"code": -32603, "message": "the server could not start"}
    assert "no database" in caplog.text
    assert await server.handle(notification) is None
    assert (await ask(server, "ping"))["result"] == {}
    await server.stop()


async def test_failure_at_the_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        yield
        raise ValueError("cannot flush")

    async with Server("shop", lifespan=lifespan):
        pass
    assert "the end of the lifespan of server shop failed" in caplog.text and "cannot flush" in caplog.text


async def test_stop_during_the_start_cancels_it() -> None:
    diary = Diary()
    diary.may_start.clear()
    server = make_server(diary)
    starting = asyncio.create_task(_awaited(server.start()))
    await reached(diary.starting)
    await server.stop()
    with pytest.raises(LifespanFailed, match="stopped while its lifespan started"):
        await starting
    assert diary.entries == []


async def test_cancelled_message_does_not_cancel_the_start_for_others() -> None:
    diary = Diary()
    diary.may_start.clear()
    server = make_server(diary)
    first, second = (asyncio.create_task(call(server, "state")) for _ in range(2))
    await reached(diary.starting)
    first.cancel()
    diary.may_start.set()
    assert (await second)["content"][0]["text"] == "ready"
    await server.stop()


def test_new_event_loop_starts_it_again() -> None:
    diary = Diary()
    server = make_server(diary)
    for _ in range(2):
        assert asyncio.run(call(server, "state"))["content"][0]["text"] == "ready"
    assert diary.entries == ["enter shop", "exit"] * 2


async def test_second_event_loop_is_refused() -> None:
    refusals: list[str] = []

    async def start_here(server: Server) -> None:
        try:
            await server.start()
        except RuntimeError as error:
            refusals.append(str(error))
        refusals.append((await call(server, "state"))["content"][0]["text"])

    async with make_server(Diary()) as server:
        thread = threading.Thread(target=lambda: asyncio.run(start_here(server)))
        thread.start()
        await asyncio.to_thread(thread.join, GUARD)
    assert "runs in another event loop" in refusals[0]
    assert refusals[1] == "tool state failed: internal error"


async def test_server_without_lifespan_says_so(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("plain")

    @server.tool
    async def state(ctx: Context) -> str:
        return str(ctx.lifespan)

    assert (await call(server, "state"))["isError"]
    assert "server plain has no lifespan: pass one with Server(lifespan=...)" in caplog.text


async def test_use_of_the_server_inside_its_own_start_is_refused() -> None:
    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        await server.tools.call("state")
        yield

    with pytest.raises(LifespanFailed, match="uses the server before it has yielded"):
        await Server("shop", lifespan=lifespan).start()


@contextmanager
def not_async(server: Server) -> Iterator[None]:
    yield


async def not_decorated(server: Server) -> AsyncIterator[None]:
    yield


async def plain(server: Server) -> None: ...


@asynccontextmanager
async def without_server() -> AsyncIterator[None]:
    yield


@pytest.mark.parametrize(
    ("lifespan", "problem"),
    [
        (not_async, "lifespan not_async is not asynchronous: decorate an async generator function"),
        (not_decorated, "is not a context manager: decorate an async generator function of the server with"),
        (plain, "is not a context manager"),
        (without_server, "does not take the server as its only argument: def lifespan"),
        (Diary().lifespan(Server("shop")), "pass the function itself, without calling it"),
        ("no function", "pass the function itself, without calling it"),
    ],
)
def test_mistake_is_refused_at_once(lifespan: Any, problem: str) -> None:
    with pytest.raises(RegistrationError, match=problem):
        Server("shop", lifespan=lifespan)
