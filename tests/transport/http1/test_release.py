"""A closed connection is freed at once, with its calls and buffers: no reference cycle keeps it until the
next garbage collection, which may be minutes and gigabytes later."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Iterator
from typing import Any, Final

import pytest

from assay import Context, MiddlewareCall, Next, Server, ToolError
from assay.middleware import Concurrency, Logging, Result
from assay.protocol.framing.websocket import BINARY, TEXT, close_frame, frame
from assay.revisions.registry import HANDSHAKE
from tests.driving.describing import describe, mirrors
from tests.driving.messages import call, initialize, notification
from tests.driving.raw_socket import MASK, UPGRADE
from tests.transport.http1.memory_client import MemoryClient, post, settle

LARGE: Final = "x" * 100_000
TYPES: Final = (b"accept: application/json, text/event-stream", b"content-type: application/json")


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


async def passing(call: MiddlewareCall, next: Next[Result]) -> Result:
    assert Context.of(call).request_id == call.request_id
    return await next(call)


class Subject:
    """A server that remembers its connections, tasks and calls, weakly."""

    def __init__(self, middleware: str) -> None:
        self.server = Server("released")
        if middleware == "in middleware":
            for each in (Logging(), Concurrency(10), passing):
                self.server.use(each)
        self.remembered: list[weakref.ref[Any]] = []
        for tool in (self.echo, self.hold, self.pour, self.fail, self.ask):
            self.server.tool(tool)

    def remember(self, thing: object) -> None:
        self.remembered.append(weakref.ref(thing))

    def connect(self) -> MemoryClient:
        client = MemoryClient(self.server.asgi())
        self.remember(client.connection)
        return client

    @property
    def alive(self) -> list[object]:
        return [thing for each in self.remembered if (thing := each()) is not None]

    async def echo(self, ctx: Context, text: str = "") -> str:
        self.remember(ctx._call)
        return text

    async def hold(self, ctx: Context, text: str = "") -> str:
        self.remember(ctx._call)
        await asyncio.Event().wait()
        return "never"

    async def pour(self, ctx: Context) -> str:
        self.remember(ctx._call)
        for _ in range(20):
            await ctx.log("info", LARGE)
        return "done"

    async def fail(self, ctx: Context) -> str:
        self.remember(ctx._call)
        await asyncio.wait([asyncio.create_task(settle())])
        raise ToolError("failed")

    async def ask(self, ctx: Context) -> str:
        self.remember(ctx._call)
        return (await ctx.sample("well?", max_tokens=1)).text


async def hang_up(client: MemoryClient) -> None:
    client.wire.hang_up()
    await settle()
    del client.wire.protocol, client.connection  # as the transport of an event loop does
    await client.server.close(1.0)


def http(tool: str, **arguments: Any) -> bytes:
    message = describe("tools/call", {"name": tool, "arguments": arguments})
    lines = [f"{name}: {value}".encode() for name, value in mirrors(message).items()]
    return post(json.dumps(message).encode(), *lines, *TYPES, target=b"/mcp")


def in_no_session(tool: str) -> bytes:
    """A call of a revision in which a disconnect does not cancel it."""
    return post(json.dumps(call(tool)).encode(), *TYPES, target=b"/mcp")


MIDDLEWARE: Final = ("plain", "in middleware")
HTTP: Final[dict[str, bytes]] = {
    "nothing sent": b"",
    "in a head": b"POST /mcp HT",
    "refused": b"\0\r\n\r\n",
    "answered": http("echo", text=LARGE),
    "failed": http("fail"),
    "in a body": http("echo", text=LARGE)[:50_000],
    "in a call": http("hold", text=LARGE),
    "in a call behind another": http("hold") + http("echo", text=LARGE),
    "in a stream": http("pour"),
    "in a stream that runs on": in_no_session("pour"),
}


@pytest.mark.parametrize("sent", HTTP.values(), ids=HTTP.keys())
@pytest.mark.parametrize("reads", [True, False], ids=["reading", "not reading"])
@pytest.mark.parametrize("middleware", MIDDLEWARE)
async def test_http_connection_is_freed_when_it_ends(sent: bytes, reads: bool, middleware: str) -> None:
    subject = Subject(middleware)
    client = subject.connect()
    if not reads:
        client.wire.stop_reading()
    await client.send(sent)
    await hang_up(client)
    assert subject.alive == []


def ws(message: Any) -> bytes:
    return frame(TEXT, json.dumps(message).encode(), mask=MASK)


READY: Final = ws(initialize(HANDSHAKE[-1], {"sampling": {}})) + ws(notification("notifications/initialized"))
WEBSOCKET: Final[dict[str, bytes]] = {
    "nothing sent": b"",
    "answered": ws(call("echo", text=LARGE)),
    "failed": ws(call("fail")),
    "closed": ws(call("echo", text=LARGE)) + close_frame(1000, "", MASK),
    "in a frame": ws(call("echo", text=LARGE))[:50_000],
    "in a message": frame(TEXT, LARGE.encode(), fin=False, mask=MASK),
    "in two calls": ws(call("hold", 1, text=LARGE)) + ws(call("hold", 2)),
    "in a question": ws(call("ask")),
    "in many messages": ws(call("pour", 1)) + ws(call("pour", 2)),
    "refused": frame(BINARY, b"x", mask=MASK),
    "after a violation": frame(3, LARGE.encode(), mask=MASK),
}


@pytest.mark.parametrize("sent", WEBSOCKET.values(), ids=WEBSOCKET.keys())
@pytest.mark.parametrize("reads", [True, False], ids=["reading", "not reading"])
@pytest.mark.parametrize("middleware", MIDDLEWARE)
async def test_websocket_is_freed_when_it_ends(sent: bytes, reads: bool, middleware: str) -> None:
    subject = Subject(middleware)
    client = await subject.connect().send(UPGRADE, READY)
    subject.remember(client.wire.protocol)
    if not reads:
        client.wire.stop_reading()
    await client.send(sent)
    await hang_up(client)
    assert subject.alive == []
