"""Servers in the same process: their life, and which revisions they serve."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assay import Client, ConnectionFailed, Context, Scope, Server, SyncClient, Timeout
from assay.revisions.registry import DATES
from tests.driving.hosts import on_assay


@contextlib.asynccontextmanager
async def lifespan(server: Any) -> AsyncIterator[list[str]]:
    server.log.append("started")
    yield ["value"]
    server.log.append("stopped")


class Logged(Server):
    def __init__(self, **options: Any) -> None:
        super().__init__("logged", **options)
        self.log: list[str] = []


async def test_the_server_is_started_before_the_first_call_and_stopped_by_its_owner() -> None:
    server = Logged(lifespan=lifespan)

    @server.tool
    async def value(ctx: Context) -> list[str]:
        return [*ctx.lifespan, *server.log]

    async with server, Client(server) as client:
        assert await client.call_as(list, "value") == ["value", "started"]
    assert server.log == ["started", "stopped"]


async def test_two_clients_share_a_server() -> None:
    server = Logged(lifespan=lifespan, capabilities={"tools": True})
    async with server, Client(server) as first:
        async with Client(server):
            pass
        assert await first.tools() == []
    assert server.log == ["started", "stopped"]


async def test_a_server_that_cannot_start_is_a_failed_connection_with_the_reason() -> None:
    @contextlib.asynccontextmanager
    async def broken(server: Any) -> AsyncIterator[None]:
        raise OSError("no database")
        yield

    with pytest.raises(ConnectionFailed, match=r"cannot be started: .*no database"):
        async with Client(Server("broken", lifespan=broken)):
            pass


async def test_a_server_of_another_event_loop_is_refused() -> None:
    server = Logged(lifespan=lifespan)
    async with server:
        with pytest.raises(ConnectionFailed, match="another event loop"), SyncClient(server):
            pass


class Tenant(Scope, kw_only=True):
    tenant: str = "default"


class Demanding(Scope, kw_only=True):
    tenant: str


async def test_a_server_with_a_scope_of_its_author_gets_one_with_defaults() -> None:
    server = Server[Tenant]("tenants")

    @server.tool
    async def tenant(ctx: Context) -> str:
        assert isinstance(ctx.scope, Tenant)
        return f"{ctx.scope.tenant} over {ctx.scope.transport}"

    async with Client(server) as client:
        assert (await client.call("tenant")).text == "default over memory"


async def test_a_scope_without_defaults_is_named() -> None:
    with pytest.raises(ConnectionFailed, match="give Demanding defaults"):
        async with Client(Server[Demanding]("tenants")):
            pass


@pytest.mark.parametrize("revision", DATES)
async def test_a_server_of_one_revision_is_spoken_to_in_it(revision: str) -> None:
    server = Server("one", revisions=[revision], capabilities={"tools": True})
    async with Client(server) as client:
        assert client.revision == revision
        assert await client.tools() == []
    async with on_assay(server.asgi()) as port:
        for _ in range(2):
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                assert client.revision == revision
                assert await client.tools() == []


async def test_a_pinned_revision_that_the_server_does_not_serve_is_an_error_with_both() -> None:
    server = Server("one", revisions=[DATES[-2]])
    with pytest.raises(ConnectionFailed, match=rf"supports .*{DATES[-2]}.* use {DATES[-1]}"):
        async with Client(server, revision=DATES[-1]):
            pass


@pytest.mark.parametrize("revision", DATES[-2:])
async def test_a_timeout_cancels_the_handler(revision: str) -> None:
    server = Server("slow")
    ended = asyncio.Event()

    @server.tool
    async def wait() -> str:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()
        return "never"

    async with Client(server, revision=revision, timeout=0.02) as client:
        with pytest.raises(Timeout):
            await client.call("wait")
        assert ended.is_set()


async def test_calls_that_never_wait_leave_turns_to_other_tasks() -> None:
    server = Server("quick")
    turns: list[int] = []

    @server.tool
    async def quick() -> str:
        return "done"

    async def other() -> None:
        turns.append(1)

    async with Client(server) as client:
        task = asyncio.create_task(other())
        for _ in range(100):
            await client.call("quick")
        assert turns
        await task
