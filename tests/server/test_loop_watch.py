"""Handlers that block the event loop are named in the log, with the line, while they block."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

import pytest

from assay import Limits, Server
from assay.server.components.tool import Tool
from assay.server.loop_watch import LoopWatch, find_handler
from tests.server.scripted import GUARD, ScriptedClient, ask

ALLOWED = 0.02


class Log(logging.Handler):
    """Collects messages; `reported` is set by the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.reported = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        self.reported.set()

    def block(self) -> str:
        """Block the thread until something is logged."""
        assert self.reported.wait(GUARD)
        return "done"


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log()
    logger = logging.getLogger("assay")
    logger.addHandler(log)
    yield log
    logger.removeHandler(log)


def watched_server(*, allowed: float | None = ALLOWED) -> Server:
    return Server("test", debug=True, limits=Limits(blocked_loop=allowed))


def watch_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "assay-loop-watch"}


async def one_turn() -> None:
    turn = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(turn.set_result, None)
    await turn


async def test_blocking_tool_is_reported_with_its_line(log: Log) -> None:
    server = watched_server()

    @server.tool(name="slow-tool")
    async def slow() -> str:
        return log.block()  # the line

    async with ScriptedClient(server) as client:
        assert await client.text_of("slow-tool") == "done"
    await server.stop()
    (message,) = log.messages
    assert message.startswith("tool slow-tool has blocked the event loop for more than 0.02 s, in ")
    assert f"{__file__}, line " in message and ".slow): return log.block()  # the line;" in message
    assert "`def`" in message


async def test_tool_that_blocks_after_an_await_is_reported(log: Log) -> None:
    server = watched_server()

    @server.tool
    async def slow() -> str:
        await one_turn()
        return log.block()

    async with ScriptedClient(server) as client:
        assert await client.text_of("slow") == "done"
    await server.stop()
    assert log.messages[0].startswith("tool slow has blocked")


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("resources/read", {"uri": "r://slow"}, "resource r://slow"),
        ("prompts/get", {"name": "slow"}, "prompt slow"),
        ("x/slow", {}, "method x/slow"),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "fill"}, "argument": {"name": "value", "value": ""}},
            "completion suggest",
        ),
    ],
)
async def test_other_handlers_are_reported(
    method: str, params: dict[str, object], name: str, log: Log
) -> None:
    server = watched_server()

    async def slow() -> str:
        return log.block()

    @server.method("x/slow")
    async def custom() -> dict[str, str]:
        return {"text": log.block()}

    @server.prompt
    async def fill(value: str) -> str:
        return value

    @server.completion("fill", "value")
    async def suggest() -> list[str]:
        return [log.block()]

    server.resources.add("r://slow", slow)
    server.prompts.add(slow)
    async with ScriptedClient(server) as client:
        assert "result" in await client.request(method, **params)
    await server.stop()
    assert log.messages[0].startswith(f"{name} has blocked")


async def test_each_handler_is_reported_once(log: Log) -> None:
    server = watched_server()

    @server.tool
    async def slow() -> str:
        # Long enough for the watch to look several times.
        until = time.monotonic() + 5 * ALLOWED
        while time.monotonic() < until:
            pass
        return log.block()

    async with ScriptedClient(server) as client:
        for _ in range(2):
            assert await client.text_of("slow") == "done"
    await server.stop()
    assert len(log.messages) == 1


async def test_idle_loop_and_handlers_that_wait_are_not_reported(log: Log) -> None:
    server = watched_server()
    beats = asyncio.Event()

    @server.tool
    async def waits() -> str:
        await beats.wait()
        return "done"

    async with ScriptedClient(server) as client:
        call = client.start_call("waits")
        asyncio.get_running_loop().call_later(5 * ALLOWED, beats.set)
        assert "result" in await call
    await server.stop()
    assert log.messages == []


@pytest.mark.parametrize("debug", [True, False])
async def test_watch_thread_exists_only_where_it_is_enabled(debug: bool) -> None:
    before = watch_threads()
    server = Server("test", debug=debug)
    async with ScriptedClient(server):
        running = watch_threads() - before
        assert bool(running) is debug
    await server.stop()
    for thread in running:
        thread.join(GUARD)
        assert not thread.is_alive()


async def test_limit_of_none_disables_the_watch() -> None:
    before = watch_threads()
    server = watched_server(allowed=None)
    async with ScriptedClient(server):
        assert watch_threads() <= before
    await server.stop()


async def test_watch_can_be_enabled_without_debug(log: Log) -> None:
    server = Server("test", limits=Limits(blocked_loop=ALLOWED))
    server.watch_loop = True

    @server.tool
    async def slow() -> str:
        return log.block()

    async with ScriptedClient(server) as client:
        assert await client.text_of("slow") == "done"
    await server.stop()
    assert log.messages[0].startswith("tool slow")


def test_watch_follows_the_server_to_another_event_loop(log: Log) -> None:
    server = watched_server()

    @server.tool
    async def slow() -> str:
        return log.block()

    async def serve() -> None:
        async with ScriptedClient(server) as client:
            assert await client.text_of("ready") == "ready"

    @server.tool
    async def ready() -> str:
        return "ready"

    async def serve_slowly() -> None:
        async with ScriptedClient(server) as client:
            assert await client.text_of("slow") == "done"
        await server.stop()

    asyncio.run(serve())
    asyncio.run(serve_slowly())
    assert log.messages[0].startswith("tool slow")


def test_stack_without_a_handler_is_not_reported() -> None:
    assert find_handler(sys._getframe()) is None


async def test_helper_is_attributed_to_the_handler_that_called_it() -> None:
    server = Server("test")

    def helper() -> str:
        handler = find_handler(sys._getframe())
        assert handler is not None and handler.function.endswith(".work")
        return handler.source

    @server.tool
    async def work() -> str:
        return helper()

    reply = await ask(server, "tools/call", name="work")
    assert reply["result"]["content"][0]["text"] == "return helper()"


def test_component_under_construction_is_not_reported() -> None:
    """A look may fall into a constructor, when the component has no name yet."""
    looks = []

    def look(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code is Tool.__init__.__code__:
            looks.append(find_handler(frame))

    previous = sys.gettrace()
    sys.settrace(look)
    try:
        Server("test").tools.add(lambda: "x", name="x")
    finally:
        sys.settrace(previous)
    assert looks == [None]


async def test_loop_is_watched_once() -> None:
    before = watch_threads()
    watch = LoopWatch(ALLOWED)
    for _ in range(3):
        watch.start()
    assert len(watch_threads() - before) == 1
    watch.stop()
    watch.stop()
