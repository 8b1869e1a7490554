"""The context: information about the request, and messages to the client."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from assay import Context, Middleware, Scope, Server
from assay.server.calls.context import LEVELS
from tests.server.scripted import FIRST, NEWEST, ScriptedClient, call, finished


def progress(value: float, **more: Any) -> dict[str, Any]:
    params = {"progressToken": "t", "progress": value, **more}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def reporting(*values: float, **more: Any) -> Server:
    server = Server("test")

    @server.tool
    async def work(ctx: Context) -> None:
        for value in values:
            await ctx.progress(value, **more)

    return server


async def work(client: ScriptedClient, **meta: Any) -> Any:
    return await client.request("tools/call", name="work", _meta=meta)


@pytest.mark.parametrize("token", ["t", 0, 7, ""])
async def test_progress_has_the_token_and_the_known_fields(token: Any) -> None:
    async with ScriptedClient(reporting(1, total=3, message="one")) as client:
        await work(client, progressToken=token)
        (message,) = client.received_so_far()
        assert message["params"] == {"progressToken": token, "progress": 1, "total": 3, "message": "one"}


@pytest.mark.parametrize(("timed", "stated"), [(True, True), (False, False), ("yes", False)])
async def test_progress_states_when_it_was_sent_if_the_request_asks_for_it(timed: Any, stated: bool) -> None:
    begin = time.monotonic_ns()
    async with ScriptedClient(reporting(1)) as client:
        await work(client, **{"progressToken": "t", "dev.assay/timed": timed})
        (message,) = client.received_so_far()
        meta = message["params"].get("_meta", {})
    assert (begin <= meta.get("dev.assay/sentAtNs", 0) <= time.monotonic_ns()) is stated


async def test_progress_only_grows() -> None:
    async with ScriptedClient(reporting(0, 1, 1, 0.5, 2)) as client:
        await work(client, progressToken="t")
        assert client.received_so_far() == [progress(0), progress(1), progress(2)]


@pytest.mark.parametrize("meta", [{}, {"progressToken": None}, {"other": 1}])
async def test_progress_without_a_token_is_not_sent(meta: dict[str, Any]) -> None:
    async with ScriptedClient(reporting(1)) as client:
        await work(client, **meta)
        assert client.received_so_far() == []


@pytest.mark.parametrize("token", [1.5, True, [], {}])
async def test_invalid_token_is_invalid_params(token: Any, caplog: Any) -> None:
    async with ScriptedClient(reporting(1)) as client:
        answer = await work(client, progressToken=token)
        assert (answer["error"]["code"], client.received_so_far(), caplog.records) == (-32602, [], [])


async def test_nothing_is_sent_after_the_result() -> None:
    contexts: list[Context] = []
    server = Server("test")

    @server.tool
    async def work(ctx: Context) -> None:
        contexts.append(ctx)

    async with ScriptedClient(server) as client:
        await client.request("tools/call", name="work", _meta={"progressToken": "t"})
        await contexts[0].progress(1)
        await contexts[0].log("emergency", "late")
        assert client.received_so_far() == []


async def test_handler_works_without_a_listener() -> None:
    assert await call(reporting(1, 2), "work") == {"content": []}


def logging_server(**options: Any) -> Server:
    server = Server("test", **options)

    @server.tool
    async def work(ctx: Context) -> None:
        for level in LEVELS:
            await ctx.log(level, {"at": level})  # type: ignore[arg-type]

    return server


def levels(client: ScriptedClient) -> list[str]:
    return [message["params"]["level"] for message in client.received_so_far()]


@pytest.mark.parametrize("threshold", LEVELS)
async def test_client_receives_its_level_and_above(threshold: str) -> None:
    async with ScriptedClient(logging_server()) as client:
        assert await client.result("logging/setLevel", level=threshold) == {}
        await work(client)
        assert levels(client) == list(LEVELS)[LEVELS[threshold] :]


async def test_level_is_info_until_it_is_set() -> None:
    async with ScriptedClient(logging_server()) as client:
        await work(client)
        assert levels(client) == list(LEVELS)[1:]


async def test_level_belongs_to_one_session() -> None:
    server = logging_server()
    async with ScriptedClient(server) as first, ScriptedClient(server) as second:
        await first.result("logging/setLevel", level="emergency")
        await work(first)
        await work(second)
        assert (len(levels(first)), len(levels(second))) == (1, 7)


@pytest.mark.parametrize("level", ["loud", "INFO", "", 3, None])
async def test_unknown_level_is_invalid_params(level: Any) -> None:
    async with ScriptedClient(logging_server()) as client:
        assert (await client.error("logging/setLevel", level=level))["code"] == -32602


async def test_log_message_on_the_wire() -> None:
    server = Server("test")

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.log("warning", [1, {"a": None}], logger="db")

    async with ScriptedClient(server) as client:
        await work_result(client)
        assert client.received_so_far() == [
            {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "warning", "data": [1, {"a": None}], "logger": "db"},
            }
        ]


async def work_result(client: ScriptedClient) -> Any:
    return await client.call("work")


async def test_nothing_is_sent_if_logging_is_off() -> None:
    async with ScriptedClient(logging_server(capabilities={"logging": False})) as client:
        await work(client)
        assert client.received_so_far() == []


async def test_unknown_level_in_a_handler_is_an_error() -> None:
    server = Server("test")
    captured = []

    @server.tool
    async def work(ctx: Context) -> None:
        with pytest.raises(ValueError, match="loud") as caught:
            await ctx.log("loud", "")  # type: ignore[arg-type]
        captured.append(caught.type)

    await call(server, "work")
    assert captured == [ValueError]


async def test_context_describes_request_client_and_scope() -> None:
    server = Server("test")
    captured: dict[str, Any] = {}

    @server.tool
    async def work(ctx: Context) -> None:
        captured.update(
            server=ctx.server,
            id=ctx.request_id,
            revision=ctx.revision,
            client=ctx.client and ctx.client.name,
            roots=ctx.client_capabilities.roots,
            meta=ctx.meta,
            principal=ctx.scope.principal,
            cancelled=ctx.cancelled,
        )

    async with ScriptedClient(server, revision=FIRST, capabilities={"roots": {}}, principal="ada") as client:
        message = {"name": "work", "_meta": {"com.example/a": 1}}
        await client.deliver({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": message})
    assert captured == {
        "server": server,
        "id": "x",
        "revision": FIRST,
        "client": "scripted",
        "roots": {},
        "meta": {"com.example/a": 1},
        "principal": "ada",
        "cancelled": False,
    }


async def test_context_without_a_session_has_no_client() -> None:
    server = Server("test")
    captured: list[Any] = []

    @server.tool
    async def work(ctx: Context) -> None:
        captured.append(
            (ctx.client, ctx.client_capabilities.roots, ctx.revision, ctx.meta, ctx.scope.principal)
        )

    await call(server, "work")
    assert captured == [(None, None, NEWEST, {}, None)]


async def test_prompts_resources_and_completions_get_the_context_too() -> None:
    server = Server("test")
    captured: list[Any] = []

    @server.prompt
    def greet(ctx: Context, name: str = "") -> str:
        captured.append(ctx.scope.principal)
        return ""

    @server.resource("who://am/i")
    async def principal_name(context: Context) -> str:
        return str(context.scope.principal)

    @server.completion("greet", "name")
    def names(ctx: Context) -> list[str]:
        return [ctx.scope.principal]

    async with ScriptedClient(server, principal="ada") as client:
        await client.result("prompts/get", name="greet")
        contents = (await client.result("resources/read", uri="who://am/i"))["contents"]
        reference = {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "name", "value": ""},
        }
        values = (await client.result("completion/complete", **reference))["completion"]["values"]
        assert (captured, contents[0]["text"], values) == (["ada"], "ada", ["ada"])


async def test_thread_uses_coroutines_through_wait() -> None:
    server = Server("test")

    @server.tool
    def work(ctx: Context) -> str:
        ctx.wait(ctx.progress(1))
        ctx.wait(ctx.log("error", "x"))
        return ctx.wait(ctx.roots())[0].uri

    async with ScriptedClient(server, capabilities={"roots": {}}) as client:
        params = {"name": "work", "_meta": {"progressToken": "t"}}
        task = asyncio.create_task(client.request("tools/call", **params))
        methods = [(await client.receive())["method"], (await client.receive())["method"]]
        question = await client.receive()
        await client.answer(question, {"roots": [{"uri": "file:///a"}]})
        text = (await finished(task))["result"]["content"][0]["text"]
        assert (methods, question["method"], text) == (
            ["notifications/progress", "notifications/message"],
            "roots/list",
            "file:///a",
        )


async def test_close_stream_does_nothing_without_a_stream() -> None:
    server = Server("test")

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.close_stream(retry=1)
        return "done"

    assert (await call(server, "work"))["content"] == [{"type": "text", "text": "done"}]


async def test_close_stream_asks_the_transport() -> None:
    server = Server("test")
    detached: list[float | None] = []

    async def detach(retry: float | None) -> None:
        detached.append(retry)

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.close_stream(retry=1.5)

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "work"}}
    await server.handle(message, scope=Scope(detach=detach))
    assert detached == [1.5]


class Collecting(Middleware):
    """Collects the effects of every call."""

    def __init__(self) -> None:
        self.effects: list[Any] = []

    def join(self, server: Server) -> None:
        server.tables.clear()

    def wrap(self, method: str, serve: Any) -> Any:
        async def collected(call: Any) -> Any:
            try:
                return await serve(call)
            finally:
                self.effects.append([(effect.op, effect.target.id) for effect in call.effects])

        return collected


async def test_middleware_sees_effects_also_from_a_thread() -> None:
    server, middleware = Server("test"), Collecting()
    server.use(middleware)

    @server.tool
    def move(ctx: Context) -> None:
        ctx.effect("create", "b", after=b"data")
        ctx.effect("delete", "a", before=b"data")

    @server.tool
    async def look() -> None: ...

    await call(server, "move")
    await call(server, "look")
    assert middleware.effects == [[("create", "b"), ("delete", "a")], []]


async def test_unknown_effect_is_an_error() -> None:
    server = Server("test")

    @server.tool
    async def move(ctx: Context) -> None:
        ctx.effect("moved", "a")  # type: ignore[arg-type]

    answer = await call(server, "move")
    assert answer["isError"]
