"""Answers from memory: what is stored, for how long, and for whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import (
    Cache,
    Context,
    MiddlewareCall,
    Next,
    ReadResult,
    RegistrationError,
    Scope,
    Server,
    Text,
    ToolError,
    ToolResult,
)
from assay.middleware import ResponseCache, Result
from tests.driving.describing import describe
from tests.middleware.manual_clock import ManualClock
from tests.server.scripted import GUARD, ScriptedClient, finished, reached

READ_ONLY = {"readOnlyHint": True}


class Cached:
    """A server with a response cache. `runs` counts how often its handlers ran."""

    def __init__(self, scope: str = "public", **options: Any) -> None:
        self.clock = ManualClock()
        self.server = Server("test", cache=Cache(10_000))
        hints: Mapping[str, Cache] = {
            name: Cache(10_000, scope)  # type: ignore[arg-type]
            for name in ("look", "fail", "change", "secret", "ask")
        }
        self.cache = ResponseCache(tools=hints, clock=self.clock, **options)
        self.runs = 0
        self.add_tools()
        self.add_resources(scope)
        self.server.use(self.cache)

    def add_tools(self) -> None:
        server = self.server

        @server.tool(annotations=READ_ONLY)
        async def look(ctx: Context, text: str = "") -> dict[str, str]:
            self.runs += 1
            return {"text": text, "for": str(ctx.principal)}

        @server.tool(annotations=READ_ONLY, scopes=["admin"])
        async def secret(ctx: Context) -> str:
            self.runs += 1
            return f"secret of {ctx.principal}"

        @server.tool(annotations=READ_ONLY)
        async def fail() -> None:
            self.runs += 1
            raise ToolError("no")

        @server.tool(annotations={"idempotentHint": True})
        async def change(ctx: Context) -> None:
            self.runs += 1
            ctx.effect("update", "x")

        @server.tool(annotations=READ_ONLY)
        async def ask(ctx: Context) -> int:
            self.runs += 1
            return len(await ctx.roots())

        @server.tool
        async def other() -> None:
            self.runs += 1

    def add_resources(self, scope: str) -> None:
        hint = Cache(5_000, scope)  # type: ignore[arg-type]

        @self.server.resource("note://{name}", cache=hint)
        async def note(name: str, ctx: Context) -> str:
            self.runs += 1
            return f"note {name} for {ctx.principal}"

        @self.server.resource(
            "own://{name}", cache=Cache(5_000), access=lambda uri, scope: scope.principal in uri
        )
        async def own(name: str) -> str:
            self.runs += 1
            return f"own {name}"

        @self.server.resource("plain://a")
        async def plain() -> str:
            self.runs += 1
            return "plain"

    async def ask(self, method: str, principal: Any = None, scopes: Any = None, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await self.send(message, Scope(principal=principal, scopes=scopes))

    async def send(self, message: Any, scope: Scope | None = None) -> Any:
        async with asyncio.timeout(GUARD):
            answer = json.loads(await self.server.handle(message, scope=scope or Scope()) or b"")
        return answer.get("result", answer.get("error"))

    async def look(self, text: str = "", principal: Any = None) -> Any:
        return await self.ask("tools/call", principal, name="look", arguments={"text": text})

    async def read(self, uri: str, principal: Any = None) -> Any:
        return await self.ask("resources/read", principal, uri=uri)


async def test_result_is_used_until_it_expires() -> None:
    cached = Cached()
    first = await cached.look("a")
    assert (await cached.look("a"), cached.runs) == (first, 1)
    cached.clock.advance(9.99)
    assert (await cached.look("a"), cached.runs) == (first, 1)
    cached.clock.advance(0.02)
    assert (await cached.look("a"), cached.runs) == (first, 2)


async def test_other_arguments_and_revisions_are_other_results() -> None:
    cached = Cached()
    for text in ("a", "b"):
        await cached.look(text)
    await cached.send(describe("tools/call", {"name": "look", "arguments": {"text": "a"}}))
    assert cached.runs == 3


async def test_meta_of_the_request_makes_no_difference() -> None:
    cached = Cached()
    for number in range(3):
        await cached.ask("tools/call", name="look", arguments={}, _meta={"progressToken": number})
    assert cached.runs == 1


@pytest.mark.parametrize("tool", ["fail", "change", "other"])
async def test_errors_effects_and_other_tools_are_not_stored(tool: str) -> None:
    cached = Cached()
    for _ in range(2):
        await cached.ask("tools/call", name=tool)
    assert cached.runs == 2


async def test_resources_and_lists_follow_their_hints() -> None:
    cached = Cached()
    for _ in range(2):
        await cached.read("note://a")
        await cached.read("plain://a")
        assert len((await cached.ask("tools/list"))["tools"]) == 6
    assert cached.runs == 1 + 2
    cached.clock.advance(6)
    await cached.read("note://a")
    assert cached.runs == 4


async def test_clients_may_reuse_a_stored_result_for_the_time_that_remains() -> None:
    cached = Cached()
    await cached.send(describe("resources/read", {"uri": "note://a"}))
    cached.clock.advance(3.5)
    result = await cached.send(describe("resources/read", {"uri": "note://a"}))
    assert (result["ttlMs"], result["cacheScope"]) == (1500, "public")


async def test_update_drops_the_resource_and_a_registration_everything() -> None:
    cached = Cached()
    await cached.read("note://a")
    await cached.read("note://b")
    cached.server.resource_updated("note://a")
    await cached.read("note://a")
    await cached.read("note://b")
    assert cached.runs == 3
    cached.server.tools.remove("other")
    assert "other" not in str(await cached.ask("tools/list"))
    await cached.read("note://b")
    assert cached.runs == 4


async def test_result_from_before_an_update_is_not_stored_after_it() -> None:
    cached, begun, resume = Cached(), asyncio.Event(), asyncio.Event()
    versions = ["old", "new"]

    @cached.server.resource("slow://a", cache=Cache(60_000))
    async def slow() -> str:
        version = versions.pop(0)
        begun.set()
        await resume.wait()
        return version

    reading = asyncio.create_task(cached.read("slow://a"))
    await reached(begun)
    cached.server.resource_updated("slow://a")
    resume.set()
    assert "old" in str(await finished(reading))
    assert "new" in str(await cached.read("slow://a"))


# Attacks: a result must not reach a caller that it was not made for.


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([None, "ada", "bob", 1, True, "1"]), st.sampled_from("ab")), max_size=30
    )
)
async def test_private_results_are_never_shared(requests: list[tuple[Any, str]]) -> None:
    cached = Cached("private")
    for principal, text in requests:
        result = await cached.look(text, principal)
        assert result["structuredContent"] == {"text": text, "for": str(principal)}
        assert f"for {principal}" in str(await cached.read(f"note://{text}", principal))
    callers = {(type(principal), principal, text) for principal, text in requests if principal is not None}
    anonymous = sum(principal is None for principal, _ in requests)
    assert cached.runs == 2 * (len(callers) + anonymous)


async def test_principals_that_look_alike_are_not_confused() -> None:
    class Person(dict[str, str]):
        def __repr__(self) -> str:
            return "person"

        __str__ = __repr__

    cached = Cached("private")
    for name in ("ada", "bob"):
        await cached.look("a", Person(name=name))
    assert cached.runs == 2


async def test_public_hint_does_not_reveal_what_needs_a_scope() -> None:
    cached = Cached("public")
    granted, narrow = frozenset({"admin"}), frozenset({"read"})
    assert "secret of ada" in str(await cached.ask("tools/call", "ada", granted, name="secret"))
    assert "secret of ada" in str(await cached.ask("tools/call", "ada", granted, name="secret"))
    assert cached.runs == 1
    for principal, scopes in (("bob", narrow), ("ada", narrow), (None, narrow)):
        refused = await cached.ask("tools/call", principal, scopes, name="secret")
        assert refused["code"] == -31003
    assert "secret of bob" in str(await cached.ask("tools/call", "bob", granted, name="secret"))


async def test_public_hint_does_not_reveal_what_access_denies() -> None:
    cached = Cached("public")
    assert "own ada" in str(await cached.read("own://ada", "ada"))
    assert (await cached.read("own://ada", "bob"))["code"] == -32002
    result = await cached.send(describe("resources/read", {"uri": "own://ada"}), Scope(principal="ada"))
    assert result["cacheScope"] == "private"


async def test_lists_differ_by_scope() -> None:
    cached = Cached("public")
    everything = await cached.ask("tools/list", "ada", frozenset({"admin"}))
    little = await cached.ask("tools/list", "ada", frozenset())
    assert len(everything["tools"]) == len(little["tools"]) + 1


async def test_changes_that_other_middleware_makes_stay_out_of_the_cache() -> None:
    server, clock = Server("test"), ManualClock()

    @server.middleware("tools/call")
    async def personal(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        result = await next(call)
        result.content.append(Text(f"for {call.principal}"))
        result.structured["principal"] = call.principal
        return result

    server.use(ResponseCache(tools={"look": Cache(1000, "public")}, clock=clock))

    @server.tool(annotations=READ_ONLY)
    async def look() -> dict[str, str]:
        return {"a": "b"}

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look"}}
    await server.handle(message, scope=Scope(principal="ada"))
    assert b"ada" not in (await server.handle(message, scope=Scope(principal="bob")) or b"")


async def test_result_that_inner_middleware_marks_as_private_is_not_shared() -> None:
    cached = Cached("public")

    @cached.server.middleware("resources/read")
    async def personal(call: MiddlewareCall, next: Next[ReadResult]) -> ReadResult:
        call.mark_private()
        return await next(call)

    assert "for ada" in str(await cached.read("note://a", "ada"))
    assert "for bob" in str(await cached.read("note://a", "bob"))


async def test_key_separates_results() -> None:
    cached = Cached("public", key=lambda call: call.scope.state.get("tenant"))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look"}}
    for tenant in ("a", "b", "a"):
        await cached.send(message, Scope(state={"tenant": tenant}))
    assert cached.runs == 2


@pytest.mark.parametrize(
    "params",
    [
        '{"name":"look","arguments":{"text":"public"},"arguments":{"text":"evil"}}',
        '{"name":"look","arguments":{"text":"public","text":"evil"}}',
        '{"arguments":{"text":"evil"},"name":"fail","name":"look"}',
    ],
)
async def test_repeated_members_do_not_poison_the_cache(params: str) -> None:
    cached = Cached("public")
    message = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'.encode()
    assert (await cached.send(message))["structuredContent"]["text"] == "evil"
    assert (await cached.look("public"))["structuredContent"]["text"] == "public"


async def test_headers_are_compared_with_the_body_also_for_a_stored_result() -> None:
    cached = Cached("public")
    message = describe("tools/call", {"name": "look", "arguments": {}})
    await cached.send(message)
    refused = await cached.send(message, Scope(transport="http", mirrors={b"mcp-name": b"other"}))
    assert refused["code"] == -32020
    assert cached.runs == 1


async def test_answers_to_questions_are_not_looked_up_or_stored() -> None:
    cached = Cached("public")
    message = describe("tools/call", {"name": "ask"}, capabilities={"roots": {}})
    question = await cached.send(message)
    params = {"name": "ask", "requestState": question["requestState"]}
    (key,) = question["inputRequests"]
    params["inputResponses"] = {key: {"roots": [{"uri": "file:///a"}]}}
    answered = await cached.send(describe("tools/call", params, capabilities={"roots": {}}))
    assert answered["structuredContent"] == 1
    assert (await cached.send(message))["resultType"] == "input_required"


async def test_result_that_depends_on_a_live_answer_is_not_stored() -> None:
    cached = Cached("public")
    for paths in (["a"], ["a", "b"]):
        async with ScriptedClient(cached.server, capabilities={"roots": {}}) as client:
            running = client.start_call("ask")
            await client.answer(
                await client.receive(), {"roots": [{"uri": f"file:///{path}"} for path in paths]}
            )
            answer = await finished(running)
            assert answer["result"]["structuredContent"] == {"result": len(paths)}


# Bounds.


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(600, 5000), st.lists(st.integers(0, 3000), max_size=20))
async def test_number_and_bytes_are_bounded(entries: int, max_bytes: int, lengths: list[int]) -> None:
    cached = Cached(entries=entries, max_bytes=max_bytes)
    for number, length in enumerate(lengths):
        await cached.look(f"{number}" + "x" * length)
        assert len(cached.cache._store) <= entries and cached.cache._store.bytes <= max_bytes
    cached.cache.changed(None)
    assert (len(cached.cache._store), cached.cache._store.bytes) == (0, 0)


async def test_result_that_was_used_last_stays() -> None:
    cached = Cached(entries=2)
    for text in ("a", "b", "a", "c", "a"):
        await cached.look(text)
    assert cached.runs == 3


# Mistakes.


def test_tool_that_is_not_repeatable_is_refused() -> None:
    server = Server("test")

    @server.tool
    async def delete() -> None: ...

    with pytest.raises(
        RegistrationError, match="tool delete is not marked as read-only or idempotent: write"
    ):
        server.use(ResponseCache(tools={"delete": Cache(1000)}))


async def test_tool_that_is_registered_later_is_not_cached_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, runs = Server("test"), []
    server.use(ResponseCache(tools={"delete": Cache(1000)}))

    @server.tool
    async def delete() -> None:
        runs.append(1)

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "delete"}}
    for _ in range(2):
        await server.handle(message)
    assert len(runs) == 2 and caplog.text.count("tool delete is not marked") == 1


@pytest.mark.parametrize("options", [{"entries": 0}, {"max_bytes": 0}, {"tools": {"a": 5}}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(RegistrationError, match="ResponseCache: "):
        ResponseCache(**options)


async def test_middleware_outside_sees_the_type_of_the_method() -> None:
    cached, results = Cached(), []
    outer = Server("outer", cache=Cache(10_000))

    @outer.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        results.append(type(await next(call)))
        return await next(call)

    outer.use(cached.cache)

    @outer.resource("note://a", cache=Cache(10_000))
    async def note() -> bytes:
        return b"\x00\xff"

    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "note://a"}}
    first, second = [await outer.handle(message) for _ in range(2)]
    assert first == second and results == [ReadResult, ReadResult]
