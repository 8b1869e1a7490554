"""Middleware as authors type it. `make check` runs mypy on this file, strictly: it is never imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_type

from assay import (
    Cache,
    Context,
    Middleware,
    MiddlewareCall,
    Next,
    PromptResult,
    ReadResult,
    Server,
    ToolResult,
)
from assay.middleware import (
    Concurrency,
    ErrorMasking,
    Logging,
    RateLimit,
    ResponseCache,
    Result,
    Timing,
    ToolList,
)
from assay.model.definition import ToolDefinition

server = Server("typed")


@server.middleware
async def every(call: MiddlewareCall, next: Next[Result]) -> Result:
    assert_type(call.name, str | None)
    assert_type(call.arguments, Mapping[str, object])
    assert_type(call.principal, object)
    assert_type(Context.of(call), Context)
    result = await next(call)
    if isinstance(result, ToolResult):
        assert_type(result, ToolResult)
    return result


@server.middleware("tools/call")
async def calls(call: MiddlewareCall, next: Next[ToolResult]) -> ToolResult:
    assert_type(await next(call), ToolResult)
    return await next(call.replace(arguments={"a": 1}))


@server.middleware("resources/read")
async def reads(call: MiddlewareCall, next: Next[ReadResult]) -> ReadResult:
    return await next(call)


@server.middleware("prompts/get")
async def prompts(call: MiddlewareCall, next: Next[PromptResult]) -> PromptResult:
    return await next(call)


@server.middleware("tools/list")
async def lists(call: MiddlewareCall, next: Next[ToolList]) -> ToolList:
    page = await next(call)
    assert_type(page["tools"], list[ToolDefinition])
    return {"tools": page["tools"][:5]}


@server.middleware("tools/call", "prompts/get")
async def both(call: MiddlewareCall, next: Next[Result]) -> Result:
    return await next(call)


class Passing(Middleware):
    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        return await next(call)


async def short(call: MiddlewareCall) -> Result:
    return {}


def plain(call: MiddlewareCall, next: Next[Result]) -> Result:
    return {}


server.use(Passing())
server.use(calls, methods=["tools/call"])
for ready in (Concurrency(1), ErrorMasking(), Logging(), RateLimit(1), Timing(), ResponseCache()):
    server.use(ready)
server.use(ResponseCache(tools={"search": Cache(1000)}))

# A mistake is an error of the type checker: without it, mypy reports an unused comment.
server.use(short)  # type: ignore[arg-type]
server.middleware(plain)  # type: ignore[type-var]
server.middleware(calls)  # type: ignore[type-var]
server.middleware("tools/list")(calls)  # type: ignore[type-var]
