"""Middleware as coroutine functions: what they see, what they may change, and how requests end."""

from __future__ import annotations

import asyncio
import itertools
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import (
    Audio,
    Context,
    Ending,
    Middleware,
    MiddlewareCall,
    Next,
    PromptResult,
    ReadResult,
    RpcError,
    Scope,
    Server,
    Text,
    ToolError,
    ToolResult,
)
from assay.middleware import Result, ToolList
from assay.revisions.registry import HANDSHAKE
from tests.driving.client import TRANSPORTS, connect
from tests.server.scripted import FIRST, ask, call


def adding() -> Server:
    server = Server("test")

    @server.tool
    async def add(a: int, b: int = 0) -> int:
        return a + b

    @server.tool
    async def fail() -> None:
        raise ToolError("no")

    @server.prompt
    def greet(name: str) -> str:
        return f"hello {name}"

    @server.resource("note://{name}")
    async def note(name: str) -> str:
        return f"note {name}"

    @server.method("own/it")
    async def own(size: int = 1) -> dict[str, int]:
        return {"size": size}

    return server


REQUESTS: dict[str, tuple[dict[str, Any], str | None, dict[str, Any]]] = {
    "tools/call": ({"name": "add", "arguments": {"a": 1}}, "add", {"a": 1}),
    "prompts/get": ({"name": "greet", "arguments": {"name": "ada"}}, "greet", {"name": "ada"}),
    "resources/read": ({"uri": "note://a"}, "note://a", {"uri": "note://a"}),
    "own/it": ({"size": 3, "_meta": {"a": 1}}, None, {"size": 3}),
    "tools/list": ({}, None, {}),
    "ping": ({}, None, {}),
}


@pytest.mark.parametrize("method", REQUESTS)
async def test_function_sees_the_decoded_request_and_its_result(method: str) -> None:
    server, notes = adding(), []

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        result = await next(call)
        notes.append((call.method, call.name, dict(call.arguments), call.principal, call.revision, result))
        return result

    params, name, arguments = REQUESTS[method]
    plain = await ask(adding(), method, **params)
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    await server.handle(message, scope=Scope(principal="ada"))
    assert (await ask(server, method, **params)) == plain
    assert notes[0][:5] == (method, name, arguments, "ada", "2025-11-25")
    assert isinstance(notes[0][5], ToolResult | PromptResult | ReadResult | dict)


async def test_structured_content_and_results_of_custom_methods_are_values() -> None:
    server, notes = adding(), []

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        notes.append(await next(call))
        return notes[-1]

    await call(server, "add", {"a": 1})
    await ask(server, "own/it")
    assert notes[0].structured == {"result": 1}
    assert notes[1] == {"size": 1}


async def test_meta_and_other_parts_of_the_request_are_available() -> None:
    server, notes = adding(), []

    @server.middleware("tools/call")
    async def look(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        notes.extend(
            [call.meta, call.request_id, call.scope.transport, call.client, Context.of(call).revision]
        )
        return await next(call)

    await ask(server, "tools/call", name="add", arguments={"a": 1}, _meta={"x": 1})
    assert notes == [{"x": 1}, 1, "direct", None, "2025-11-25"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["function", "object", "wrap"]), max_size=5))
async def test_first_one_added_is_outermost_in_every_form(forms: list[str]) -> None:
    server, notes = adding(), []
    for number, form in enumerate(forms):
        server.use(FORMS[form](f"{number}", notes))
    assert (await call(server, "add", {"a": 1}))["structuredContent"] == {"result": 1}
    numbers = [f"{number}" for number in range(len(forms))]
    assert notes == [*(f"> {n}" for n in numbers), *(f"< {n}" for n in reversed(numbers))]


def noting_function(name: str, notes: list[str]) -> Any:
    async def note(call: MiddlewareCall, next: Next[Result]) -> Result:
        notes.append(f"> {name}")
        result = await next(call)
        notes.append(f"< {name}")
        return result

    return note


class NotingObject:
    def __init__(self, name: str, notes: list[str]) -> None:
        self._function = noting_function(name, notes)

    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        result: Result = await self._function(call, next)
        return result


class NotingWrap(Middleware):
    def __init__(self, name: str, notes: list[str]) -> None:
        self._function = noting_function(name, notes)

    def wrap(self, method: str, serve: Any) -> Any:
        async def noted(call: Any) -> Any:
            return await self._function(call, serve)

        return noted


FORMS = {"function": noting_function, "object": NotingObject, "wrap": NotingWrap}


async def test_chosen_methods_only() -> None:
    server, notes = adding(), []

    @server.middleware("tools/call", "own/it")
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        notes.append(call.method)
        return await next(call)

    server.use(NotingWrap("wrap", notes), methods=["prompts/get"])
    for method, (params, _, _) in REQUESTS.items():
        await ask(server, method, **params)
    assert notes == ["tools/call", "> wrap", "< wrap", "own/it"]


async def test_result_may_be_replaced() -> None:
    server = adding()

    @server.middleware("tools/call")
    async def shout(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        result = await next(call)
        return ToolResult([Text("!"), *result.content], meta={"by": "shout"})

    @server.middleware("tools/list")
    async def hide(call: MiddlewareCall, next: Next[ToolList]) -> ToolList:
        page = await next(call)
        return {"tools": [tool for tool in page["tools"] if tool.name != "fail"]}

    result = await call(server, "add", {"a": 1})
    assert [block["text"] for block in result["content"]] == ["!", '{"result":1}']
    assert result["_meta"] == {"by": "shout"} and "structuredContent" not in result
    assert [tool["name"] for tool in (await ask(server, "tools/list"))["result"]["tools"]] == ["add"]


async def test_replaced_result_fits_the_revision_of_the_client() -> None:
    server = adding()

    @server.middleware("tools/call")
    async def sing(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        return ToolResult([Audio(b"la", "audio/wav")], structured={"a": 1})

    (block,) = (await call(server, "add", {"a": 1}, revision=FIRST))["content"]
    assert block["type"] == "resource"


async def test_arguments_may_be_replaced_for_the_rest_of_the_way() -> None:
    server, notes = adding(), []

    @server.middleware("tools/call", "own/it", "prompts/get")
    async def more(call: MiddlewareCall, next: Next[Result]) -> Result:
        result = await next(call.replace(arguments={**call.arguments, **EXTRA[call.method]}))
        notes.append(dict(call.arguments))
        return result

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        notes.append(dict(call.arguments))
        return await next(call)

    assert (await call(server, "add", {"a": 1}))["structuredContent"] == {"result": 41}
    assert notes == [{"a": 1, "b": 40}, {"a": 1}]
    assert (await ask(server, "own/it", size=1))["result"] == {"size": 9}
    prompt = await ask(server, "prompts/get", name="greet", arguments={"name": "x"})
    assert prompt["result"]["messages"][0]["content"]["text"] == "hello bob"


EXTRA: dict[str, dict[str, object]] = {
    "tools/call": {"b": 40},
    "own/it": {"size": 9},
    "prompts/get": {"name": "bob"},
}


async def test_replaced_arguments_are_validated_like_those_of_the_client() -> None:
    server = adding()

    @server.middleware("tools/call")
    async def spoil(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        return await next(call.replace(arguments={"a": "x"}))

    assert "invalid arguments for tool add" in str(await call(server, "add", {"a": 1}))


async def test_request_may_be_answered_without_next() -> None:
    server = adding()

    @server.middleware("tools/call")
    async def refuse(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        return ToolResult([Text("closed")])

    assert (await call(server, "fail"))["content"][0]["text"] == "closed"


async def test_request_may_be_served_again_after_a_failure() -> None:
    server, attempts = Server("test"), itertools.count(1)

    @server.tool
    async def flaky() -> int:
        if (number := next_number()) < 3:
            raise RpcError(-1, f"attempt {number}")
        return number

    def next_number() -> int:
        return next(attempts)

    @server.middleware("tools/call")
    async def retry(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        try:
            return await next(call)
        except RpcError:
            return await next(call)

    assert (await call(server, "flaky"))["message"] == "attempt 2"
    assert (await call(server, "flaky"))["structuredContent"] == {"result": 3}


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (ToolError("stop"), {"content": [{"type": "text", "text": "stop"}], "isError": True}),
        (RpcError(7, "no", [1]), {"code": 7, "message": "no", "data": [1]}),
        (KeyError("secret"), {"code": -32603, "message": "internal error"}),
    ],
    ids=["ToolError", "RpcError", "other"],
)
async def test_exceptions_are_answered_like_those_of_handlers(error: Exception, answer: Any) -> None:
    server = adding()

    @server.middleware("tools/call")
    async def stop(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
        raise error

    assert await call(server, "add", {"a": 1}) == answer


async def test_failures_of_a_tool_are_results_and_of_a_method_exceptions() -> None:
    server, notes = adding(), []

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        try:
            result = await next(call)
        except RpcError as error:
            notes.append((error.code, call.ending_of(error)))
            raise
        notes.append(result)
        return result

    await call(server, "fail")
    await ask(server, "no/such")
    assert notes == [ToolResult([Text("no")], is_error=True), (-32601, Ending.FAILED)]


MISUSES = {
    "returns nothing": "returned None for tools/call: write `return await next(call)`",
    "forgets await": "returned coroutine for tools/call: write `return await next(call)`, with await",
    "returns text": "returned str for tools/call: return the result of next, or a ToolResult",
    "passes something else": "passed dict to next: write `await next(call)`",
}


@pytest.mark.parametrize("misuse", MISUSES)
async def test_misuse_is_logged_with_the_name_and_the_fix(
    misuse: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = adding()

    @server.middleware("tools/call")
    async def clumsy(call: Any, next: Any) -> Any:
        match misuse:
            case "returns nothing":
                await next(call)
            case "forgets await":
                return next(call)
            case "returns text":
                return "text"
            case _:
                return await next({"a": 1})

    assert await call(server, "add", {"a": 1}) == {"code": -32603, "message": "internal error"}
    assert f"middleware clumsy {MISUSES[misuse]}" in caplog.text


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_transport_and_batches(transport: str) -> None:
    server, notes = adding(), []

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        await asyncio.get_running_loop().run_in_executor(None, int)
        notes.append((call.method, call.scope.transport))
        return await next(call)

    revision = next(each for each in HANDSHAKE if each.date == "2025-03-26")
    async with connect(server, transport, revision) as client:
        assert (await client.call("add", a=1, b=2))["content"][0]["text"] == '{"result":3}'
        notes.clear()
        calls = [("tools/call", {"name": "add", "arguments": {"a": n}}, f"b{n}") for n in (1, 2)]
        for method, _, number in calls:
            client._methods[number] = method
        batch = [{"jsonrpc": "2.0", "id": n, "method": m, "params": p} for m, p, n in calls]
        await client.link.send(batch)
        assert [bool((await client.answer(n))["result"]) for _, _, n in calls] == [True, True]
    assert [method for method, _ in notes] == ["tools/call", "tools/call"]


async def test_any_mapping_is_a_result() -> None:
    server = adding()

    @server.middleware("own/it")
    async def replace(call: MiddlewareCall, next: Next[Result]) -> Result:
        return MappingProxyType({"a": 1})

    assert (await ask(server, "own/it"))["result"] == {"a": 1}


async def test_hooks_of_an_object_are_called() -> None:
    notes: list[Any] = []

    class Hooked(Middleware):
        def join(self, server: Any) -> None:
            notes.append(server.info.name)

        def publish(self, app: Any) -> Any:
            notes.append("publish")
            return app

        def changed(self, uri: str | None) -> None:
            notes.append(uri)

        async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
            notes.append(call.method)
            return await next(call)

    server = Server("test")
    server.use(Hooked(), methods=["ping"])
    server.resource_updated("note://a")

    @server.tool
    async def late() -> None: ...

    server.asgi()
    await ask(server, "ping")
    await ask(server, "tools/list")
    assert notes == ["test", None, "note://a", None, "publish", "ping"]


NAMES: dict[str, tuple[str, str | None]] = {
    '{"name":"a","name":"b"}': ("tools/call", "b"),
    '{"name":"\\u0061"}': ("tools/call", "a"),
    '{"name":["a"]}': ("tools/call", None),
    '{"name":null}': ("prompts/get", None),
    "{}": ("resources/read", None),
    '{"ref":{"type":"ref/prompt","name":"greet"}}': ("completion/complete", "greet"),
    '{"ref":{"type":"ref/resource","uri":"note://{name}"}}': ("completion/complete", "note://{name}"),
    '{"ref":[]}': ("completion/complete", None),
    '{"name":"a","arguments":[1]}': ("tools/call", "a"),
}


@pytest.mark.parametrize("params", NAMES)
async def test_name_is_what_the_method_reads_or_nothing(params: str) -> None:
    server, notes = adding(), []

    @server.middleware
    async def look(call: MiddlewareCall, next: Next[Result]) -> Result:
        notes.append((call.name, dict(call.arguments) if call.name == "a" else {}))
        return await next(call)

    method, name = NAMES[params]
    await server.handle(f'{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}')
    assert notes == [(name, {})]
