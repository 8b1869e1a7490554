"""Requests that end inside middleware or behind it: questions, cancellations, a server that stops."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest

from assay import (
    Context,
    Ending,
    Limits,
    MiddlewareCall,
    Next,
    PromptResult,
    RpcError,
    Server,
    Text,
    ToolResult,
)
from assay.middleware import Result
from tests.driving.describing import describe
from tests.server.scripted import GUARD, ScriptedClient, ask, call, finished, quiescence, reached


def adding() -> Server:
    server = Server("test")

    @server.tool
    async def add(a: int) -> int:
        return a

    return server


async def test_questions_pass_through_and_end_a_round() -> None:
    server, endings = Server("test"), []

    @server.tool
    async def greet(ctx: Context) -> str:
        return f"hello {(await ctx.roots())[0].uri}"

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        try:
            return await next(call)
        except Exception:
            pytest.fail("a question is not a failure")
        except BaseException as error:
            endings.append(call.ending_of(error))
            raise

    described = describe("tools/call", {"name": "greet"}, capabilities={"roots": {}})
    async with asyncio.timeout(GUARD):
        reply = await server.handle(described)
    assert b"input_required" in (reply or b"") and endings == [Ending.QUESTION]


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
async def test_middleware_and_handler_may_both_ask_by_retry(method: str) -> None:
    server, effects = Server("test"), []

    async def name_of(ctx: Context) -> str:
        ctx.effect("create", "a")
        return (await ctx.roots(key="inner"))[0].uri

    server.tool(name="who")(name_of)
    server.prompt(name="who")(name_of)
    server.resource("note://who")(name_of)

    @server.middleware(method)
    async def confirm(call: MiddlewareCall, next: Next[Result]) -> Result:
        if (await Context.of(call).roots(key="outer"))[0].uri != "file:///yes":
            raise RpcError(1, "no")
        try:
            return await next(call)
        finally:
            effects.append(len(call.server_call.effects))

    params: dict[str, Any] = {"uri": "note://who"} if method == "resources/read" else {"name": "who"}
    for key, uri in (("outer", "file:///yes"), ("inner", "file:///ada")):
        reply = await served(server, method, params)
        assert list(reply["inputRequests"]) == [key]
        params["requestState"] = reply["requestState"]
        params["inputResponses"] = {key: {"roots": [{"uri": uri}]}}
    assert "file:///ada" in str(await served(server, method, params))
    assert effects == [1, 2]


async def served(server: Server, method: str, params: dict[str, Any]) -> Any:
    async with asyncio.timeout(GUARD):
        reply = await server.handle(describe(method, params, capabilities={"roots": {}}))
    return json.loads(reply or b"")["result"]


async def test_middleware_may_begin_to_ask_after_the_handler_has() -> None:
    server, rounds = Server("test"), itertools.count()

    @server.prompt
    async def name(ctx: Context) -> str:
        return (await ctx.roots())[0].uri

    @server.middleware("prompts/get")
    async def late(call: MiddlewareCall, next: Next[PromptResult]) -> PromptResult:
        if round_number() > 0:
            assert Context.of(call).revision == "2026-07-28"
        return await next(call)

    def round_number() -> int:
        return next(rounds)

    params: dict[str, Any] = {"name": "name"}
    reply = await served(server, "prompts/get", params)
    answers = {key: {"roots": [{"uri": "file:///a"}]} for key in reply["inputRequests"]}
    params |= {"requestState": reply["requestState"], "inputResponses": answers}
    assert "file:///a" in str(await served(server, "prompts/get", params))


async def test_server_that_stops_answers_requests_that_wait_in_middleware() -> None:
    server, begun = Server("test", limits=Limits(drain=0.01)), asyncio.Event()

    @server.middleware
    async def wait(call: MiddlewareCall, next: Next[Result]) -> Result:
        begun.set()
        await asyncio.Event().wait()
        return await next(call)

    task = asyncio.create_task(ask(server, "ping"))
    await reached(begun)
    await server.drain()
    assert (await finished(task))["error"]["message"] == "the server is stopping"


async def test_handler_and_middleware_are_cancelled_together() -> None:
    server, notes, begun = Server("test"), [], asyncio.Event()

    @server.tool
    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        try:
            return await next(call)
        except BaseException as error:
            notes.append(call.ending_of(error))
            raise

    async with ScriptedClient(server) as client:
        notes.clear()
        task = client.start_call("wait")
        await reached(begun)
        await client.cancel(2)
        assert await finished(task) is None
    assert notes == [Ending.CANCELLED]


@pytest.mark.parametrize("position", ["before", "after", "in a task"])
async def test_client_can_cancel_while_middleware_waits(position: str) -> None:
    server, begun = adding(), asyncio.Event()

    @server.middleware("tools/call")
    async def slow(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        async def wait() -> None:
            begun.set()
            await asyncio.Event().wait()

        if position == "before":
            await wait()
        result = await next(call)
        await (asyncio.wait_for(wait(), GUARD) if position == "in a task" else wait())
        return result

    async with ScriptedClient(server) as client:
        task = client.start_call("add", a=1)
        await reached(begun)
        assert list(client.session.in_flight) == [2]
        await client.cancel(2)
        assert await finished(task) is None
        assert client.session.in_flight == {}
        assert await client.result("ping") == {}


async def test_handler_in_a_task_of_its_middleware_is_cancelled() -> None:
    server, begun, ended = Server("test"), asyncio.Event(), asyncio.Event()

    @server.tool
    async def wait() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    @server.middleware("tools/call")
    async def limit(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        return await asyncio.ensure_future(next(call))

    async with ScriptedClient(server) as client:
        task = client.start_call("wait")
        await reached(begun)
        await quiescence()
        await client.cancel(2)
        assert await finished(task) is None
        await reached(ended)
        assert client.session.in_flight == {}


async def test_swallowed_cancellation_is_not_answered() -> None:
    server, begun = Server("test"), asyncio.Event()

    @server.tool
    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    @server.middleware("tools/call")
    async def swallow(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        try:
            return await next(call)
        except Exception:
            return ToolResult([Text("never mind")])

    async with ScriptedClient(server) as client:
        task = client.start_call("wait")
        await reached(begun)
        await client.cancel(2)
        assert await finished(task) is None


async def test_idle_timeout_of_a_tool_is_a_result_and_of_middleware_an_error() -> None:
    server = Server("test", limits=Limits(idle_timeout=0.01))

    @server.tool
    async def wait() -> None:
        await asyncio.Event().wait()

    @server.middleware("tools/call")
    async def maybe_wait(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        if call.arguments:
            await asyncio.Event().wait()
        return await next(call)

    assert (await call(server, "wait"))["isError"]
    assert (await call(server, "wait", {"here": 1}))["code"] == -32603
