"""What type checkers make of a server's code: checked by mypy in `make check`, and never run.

`assert_type` compares the exact type, so nothing here may be `Any` unless it says so.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, assert_type

from fastapi import FastAPI
from starlette.applications import Starlette

from assay import Context, Depends, Scope, Server, current_context


@dataclass
class State:
    users: dict[str, int]


class TenantScope(Scope, kw_only=True):
    tenant: str


@asynccontextmanager
async def lifespan(server: Server[TenantScope]) -> AsyncGenerator[State]:
    assert_type(server.info.name, str)
    yield State({})


server = Server[TenantScope]("typed", lifespan=lifespan)


async def coroutine(ctx: Context[State]) -> int:
    return len(ctx.lifespan.users)


def function() -> int:
    return 1


async def async_iterator() -> AsyncIterator[int]:
    yield 1


async def async_generator() -> AsyncGenerator[int]:
    yield 1


def iterator() -> Iterator[int]:
    yield 1


def generator() -> Generator[int]:
    yield 1


@asynccontextmanager
async def async_manager() -> AsyncGenerator[int]:
    yield 1


@contextmanager
def manager() -> Generator[int]:
    yield 1


@server.tool
async def by_annotation(name: str, count: Annotated[int, Depends(coroutine)]) -> int:
    return count + len(name)


@server.tool
async def by_default(
    a: int = Depends(coroutine),
    b: int = Depends(function),
    c: int = Depends(async_iterator),
    d: int = Depends(async_manager),
    e: State = Depends(State),  # noqa: B008
) -> int:
    return a + b + c + d + len(e.users)


assert_type(Depends(coroutine), int)
assert_type(Depends(function), int)
assert_type(Depends(async_iterator), int)
assert_type(Depends(async_generator), int)
assert_type(Depends(iterator), int)
assert_type(Depends(generator), int)
assert_type(Depends(async_manager), int)
assert_type(Depends(manager), int)
assert_type(Depends(State), State)


@server.tool
async def contexts(
    bare: Context,
    optional: Context | None,
    with_state: Context[State],
    with_scope: Context[State, TenantScope],
) -> str:
    assert_type(bare.lifespan, Any)
    assert_type(bare.scope, Scope)
    assert_type(with_state.lifespan, State)
    assert_type(with_state.scope, Scope)
    assert_type(with_scope.lifespan, State)
    assert_type(with_scope.scope, TenantScope)
    assert_type(with_scope.scope.tenant, str)
    takes_any_context(with_state)
    takes_any_context(with_scope)
    return with_scope.scope.tenant


def takes_any_context(ctx: Context) -> None:
    assert_type(ctx.principal, Any)


@server.on_notification("orders/changed")
async def changed(article: str, ctx: Context[State]) -> None:
    await ctx.notify("orders/seen", {"article": article})
    await ctx.notify("orders/seen", State({}))


async def use() -> None:
    assert_type(await server.handle(b"", scope=TenantScope(tenant="acme")), bytes | None)
    await server.handle(b"", scope=Scope())  # type: ignore[arg-type]
    plain = Server("plain")
    await plain.handle(b"", scope=Scope(principal="ada"))
    async with server as running:
        assert_type(running, Server[TenantScope])
    with server.override(coroutine, function):
        pass
    await server.start()
    assert_type(current_context().scope, Scope)


@asynccontextmanager
async def host_lifespan(host: FastAPI) -> AsyncGenerator[dict[str, int]]:
    yield {}


app = server.asgi()
FastAPI(lifespan=app.lifespan)
Starlette(lifespan=app.lifespan)
FastAPI(lifespan=app.joined(host_lifespan))
