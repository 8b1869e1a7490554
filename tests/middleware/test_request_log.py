"""One line per request, in which nothing that a client sends acts."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from assay import Context, Scope, Server, ToolError
from assay.middleware import Logging
from tests.driving.describing import describe
from tests.server.scripted import ScriptedClient, ask, call, finished, reached


def logged(begun: asyncio.Event | None = None, **options: Any) -> Server:
    server = Server("test")
    server.use(Logging(clock=lambda: 1.0, **options))

    @server.tool
    async def add(a: int) -> int:
        return a

    @server.tool
    async def fail() -> None:
        raise ToolError("no")

    @server.tool
    async def wait() -> None:
        assert begun is not None
        begun.set()
        await asyncio.Event().wait()

    @server.tool
    async def roots(ctx: Context) -> int:
        return len(await ctx.roots())

    return server


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.INFO, "assay.middleware")
    return lambda: [each.getMessage() for each in caplog.records if each.name == "assay.middleware"]


async def test_outcomes(lines: Any) -> None:
    server = logged()
    await call(server, "add", {"a": 1})
    await call(server, "fail")
    await ask(server, "no/such")
    await server.handle(describe("tools/call", {"name": "roots"}, capabilities={"roots": {}}) | {})
    assert lines() == [
        "tools/call add: ok in 0.0 ms (direct)",
        "tools/call fail: error result in 0.0 ms (direct)",
        "no/such: error -32601 in 0.0 ms (direct)",
        "tools/call roots: asked the client in 0.0 ms (direct)",
    ]


async def test_cancellation(lines: Any) -> None:
    begun = asyncio.Event()
    async with ScriptedClient(logged(begun)) as client:
        task = client.start_call("wait")
        await reached(begun)
        await client.cancel(2)
        assert await finished(task) is None
    assert lines()[-1] == "tools/call wait: cancelled in 0.0 ms (direct)"


async def test_arguments_are_logged_on_request_only(lines: Any) -> None:
    await call(logged(), "add", {"a": 41})
    await call(logged(arguments=True), "add", {"a": 42})
    assert ["41" in line for line in lines()] == [False, False]
    assert lines()[1].endswith('arguments {"a":42})')


async def test_text_of_clients_stays_in_its_line() -> None:
    records: list[logging.LogRecord] = []
    log = logging.Logger("own")
    log.addFilter(lambda record: bool(records.append(record)) or True)
    server = logged(log=log, arguments=True)
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "a\nERROR forged\x1b[2J" + "x" * 10_000, "arguments": {"b": "\n" * 9000}},
    }
    await server.handle(message, scope=Scope(principal="eve\nroot"))
    (record,) = records
    text = record.getMessage()
    assert "\n" not in text and "\x1b" not in text and len(text) < 4000


async def test_nothing_is_formatted_below_the_level(lines: Any) -> None:
    await call(logged(level=logging.DEBUG), "add", {"a": 1})
    assert lines() == []
