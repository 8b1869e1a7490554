"""Names of other libraries: they do what ours do, or the error names ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from assay import Context, RpcError, Scope, Server, Text
from assay.server.hint import CONTEXT_HINTS, SERVER_HINTS
from tests.server.scripted import ScriptedClient, finished, reached

Use = Callable[[Context], Awaitable[Any]]

FASTMCP_CONTEXT = [
    "client_extension_settings",
    "client_id",
    "client_supports_extension",
    "close_sse_stream",
    "debug",
    "delete_state",
    "disable_components",
    "elicit",
    "enable_components",
    "error",
    "fastmcp",
    "get_prompt",
    "get_state",
    "info",
    "input_responses",
    "is_background_task",
    "lifespan_context",
    "list_prompts",
    "list_resources",
    "log",
    "origin_request_id",
    "read_resource",
    "report_progress",
    "request_context",
    "request_id",
    "request_state",
    "reset_visibility",
    "send_notification",
    "session",
    "session_id",
    "set_state",
    "task_id",
    "transport",
    "warning",
]
"""The public names of `fastmcp.Context` 4.1.2."""


async def used(use: Use, *, server: Server | None = None, **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    """What a handler gets by an alias, and the messages that the client receives."""
    server = server or Server("test")
    values = []

    @server.tool
    async def tool(ctx: Context) -> None:
        values.append(await use(ctx))

    async with ScriptedClient(server, **options) as client:
        result = await client.request(
            "tools/call", name="tool", arguments={}, _meta={"progressToken": "t", "client_id": "claimed"}
        )
        assert result["result"] == {"content": []}, result
        (value,) = values
        return value, client.received_so_far()


@pytest.mark.parametrize("level", ["info", "warning", "error"])
@pytest.mark.parametrize(
    ("options", "params"),
    [
        ({}, {"data": "hello"}),
        ({"logger_name": "shop"}, {"data": "hello", "logger": "shop"}),
        ({"extra": {"a": 1}}, {"data": {"msg": "hello", "extra": {"a": 1}}}),
    ],
)
async def test_log_methods_send_their_level(level: str, options: Any, params: Any) -> None:
    _, messages = await used(lambda ctx: getattr(ctx, level)("hello", **options))
    assert [message["params"] for message in messages] == [{"level": level, **params}]


async def test_debug_is_below_the_level_of_most_clients() -> None:
    assert (await used(lambda ctx: ctx.debug("hello")))[1] == []


async def test_swapped_arguments_of_log_name_the_order() -> None:
    async def swap(ctx: Context) -> str:
        with pytest.raises(ValueError, match=r"unknown log level: 'hello'.*: the level comes first") as error:
            await ctx.log("hello", "info")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="unknown log level"):
            await ctx.log("hello", {"a": 1})  # type: ignore[arg-type]
        return str(error.value)

    await used(swap)


async def test_progress_is_reported() -> None:
    _, (message,) = await used(lambda ctx: ctx.report_progress(1, 2, "half"))
    assert message["params"] == {"progressToken": "t", "progress": 1, "total": 2, "message": "half"}


async def test_state_is_that_of_the_session() -> None:
    async def remember(ctx: Context) -> Any:
        await ctx.set_state("a", [1])
        before = await ctx.get_state("a"), ctx.session["a"]
        await ctx.delete_state("a")
        await ctx.delete_state("a")
        return *before, await ctx.get_state("a")

    assert (await used(remember))[0] == ([1], [1], None)


async def test_state_that_is_not_json_is_refused_with_the_way_out() -> None:
    async def store(ctx: Context) -> None:
        with pytest.raises(TypeError, match="plain JSON only: keep other objects in a variable"):
            await ctx.set_state("a", object(), serializable=False)

    await used(store)


async def values(ctx: Context) -> Any:
    supports = ctx.client_supports_extension("com.example/a"), ctx.client_supports_extension("b")
    return ctx.fastmcp is ctx.server, ctx.session_id, ctx.transport, supports


async def test_properties_are_ours() -> None:
    value, _ = await used(values, capabilities={"extensions": {"com.example/a": {}}})
    assert value == (True, None, "direct", (True, False))


async def test_session_id_is_that_of_the_transport() -> None:
    server = Server("test")
    server.tool(name="tool")(session_id)
    async with ScriptedClient(server) as client:
        client.session.id = "abc"
        assert await client.text_of("tool") == "abc"
    assert (await server.tools.call("tool")).content == [Text("None")]


async def session_id(ctx: Context) -> str:
    return str(ctx.session_id)


def shop() -> Server:
    server = Server("test", access=lambda uri, scope: "secret" not in uri or scope.principal == "ada")
    server.resource("notes://open")(lambda: "open note")
    server.resource("notes://secret")(lambda: "secret note")
    server.resource("notes://scoped", scopes=["admin"])(lambda: "scoped note")
    server.prompt(name="ask")(lambda topic: f"about {topic}")
    server.prompt(name="scoped", scopes=["admin"])(lambda: "a")
    return server


async def test_resource_is_read_as_the_caller() -> None:
    async def read(ctx: Context) -> Any:
        return [(await ctx.read_resource(f"notes://{name}"))[0].text for name in ("open", "secret")]

    assert (await used(read, server=shop(), principal="ada"))[0] == ["open note", "secret note"]

    async def pry(ctx: Context) -> Any:
        with pytest.raises(RpcError, match="not found"):
            await ctx.read_resource("notes://secret")

    await used(pry, server=shop(), principal="bob")


async def test_prompt_and_lists_are_those_of_the_server() -> None:
    async def look(ctx: Context) -> Any:
        prompt = await ctx.get_prompt("ask", {"topic": "tea"})
        resources = [resource.uri for resource in await ctx.list_resources()]
        return prompt.messages[0].content, resources, [item.name for item in await ctx.list_prompts()]

    content, resources, prompts = (await used(look, server=shop()))[0]
    assert content.text == "about tea"
    assert (len(resources), prompts) == (3, ["ask", "scoped"])


async def test_scopes_limit_what_a_caller_reaches() -> None:
    server, outcomes = shop(), []

    @server.tool
    async def tool(ctx: Context) -> None:
        outcomes.append([item.uri for item in await ctx.list_resources()])
        outcomes.append([item.name for item in await ctx.list_prompts()])
        for use in (ctx.read_resource("notes://scoped"), ctx.get_prompt("scoped")):
            with pytest.raises(RpcError, match="scope"):
                await use

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool"}}
    await server.handle(message, scope=Scope(scopes=frozenset()))
    assert outcomes == [["notes://open", "notes://secret"], ["ask"]]


async def test_request_can_be_cancelled_after_it_has_read_a_resource() -> None:
    """The inner call has the id of the request, and must not be taken for it."""
    server, done = Server("test"), asyncio.Event()
    server.resource("notes://slow")(lambda: "in a thread")

    @server.tool
    async def tool(ctx: Context) -> None:
        await ctx.read_resource("notes://slow")
        done.set()
        await asyncio.Event().wait()

    async with ScriptedClient(server) as client:
        task = client.start_call("tool")
        await reached(done)
        await client.cancel(2)
        assert await finished(task) is None


async def test_every_name_of_fastmcp_works_or_names_ours() -> None:
    async def try_all(ctx: Context) -> Any:
        hints = {}
        for name in FASTMCP_CONTEXT:
            try:
                getattr(ctx, name)
            except AttributeError as error:
                hints[name] = str(error)
        return hints

    hints = (await used(try_all))[0]
    assert hints.keys() <= CONTEXT_HINTS.keys()
    for name, text in hints.items():
        assert text == f"'Context' object has no attribute {name!r}: {CONTEXT_HINTS[name]}"


async def test_unknown_name_is_an_ordinary_attribute_error() -> None:
    async def mistype(ctx: Context) -> Any:
        assert not hasattr(ctx, "progres")
        with pytest.raises(AttributeError, match=r"^'Context' object has no attribute 'progres'$") as error:
            ctx.progres  # type: ignore[attr-defined]  # noqa: B018 - the access raises
        assert error.value.name == "progres" and error.value.obj is ctx

    await used(mistype)


@pytest.mark.parametrize("name", SERVER_HINTS)
def test_name_of_another_server_names_ours(name: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(Server("test"), name)
    assert str(error.value) == f"'Server' object has no attribute {name!r}: {SERVER_HINTS[name]}"


def test_hints_are_only_for_missing_names() -> None:
    assert not [name for name in CONTEXT_HINTS if name in dir(Context)]
    assert not [name for name in SERVER_HINTS if name in dir(Server("test"))]
