"""A server for the commands that call one, and a way to serve it while a command runs in this thread."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Literal, TypeVar

from assay import Context, Image, RpcError, Server, ToolError
from tests.driving.answer import PATIENCE
from tests.driving.hosts import on_assay

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "age": {"type": "integer", "minimum": 0, "default": 30},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b"}]},
        "days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}},
        "email": {"type": "string", "format": "email"},
        "news": {"type": "boolean"},
    },
    "required": ["name", "colour"],
}
T = TypeVar("T")
server = Server("calculator", version="1.2")


@server.tool
async def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Further lines are shown by `assay tools TARGET add`."""
    return a + b


@server.tool
async def search(
    query: str, tags: list[str] | None = None, mode: Literal["fast", "slow"] = "fast"
) -> list[str]:
    return [query, *(tags or ()), mode]


@server.tool
async def explode() -> str:
    raise ToolError("it broke \x1b[31mbadly")


@server.tool
async def refuse() -> str:
    raise RpcError(-1, "not today")


@server.tool
async def picture() -> list[Image]:
    return [Image(b"\x89PNG\r\n\x1a\nfirst"), Image(b"\x89PNG\r\n\x1a\nsecond")]


@server.tool
async def work(ctx: Context) -> str:
    await ctx.progress(1, 2, "half")
    await ctx.warning("nearly done")
    return ", ".join(root.uri for root in await ctx.roots())


@server.tool
async def introduce(ctx: Context) -> str:
    reply = await ctx.elicit("Who are you?", FORM)
    return f"{reply.action} {reply.content}"


@server.tool
async def log_in(ctx: Context, url: str) -> str:
    return (await ctx.elicit_url("Please log in", url)).action


@server.tool
async def wait_for_ever() -> str:
    await asyncio.Event().wait()
    return ""


@server.resource("text://greeting")
async def greeting() -> str:
    return "hello \x1b[31mworld"


@server.resource("data://logo", mime_type="image/png")
async def logo() -> bytes:
    return b"\x89PNG"


@server.resource("note://{number}")
async def note(number: int) -> str:
    return f"note {number}"


@server.prompt
async def greet(name: str, tone: str = "warm") -> str:
    """Greet someone."""
    return f"Greet {name}, {tone}"


@contextlib.asynccontextmanager
async def on_http() -> AsyncIterator[str]:
    async with on_assay(server.asgi()) as port:
        yield f"http://127.0.0.1:{port}/mcp"


@contextlib.contextmanager
def in_thread(host: Callable[[], AbstractAsyncContextManager[T]]) -> Iterator[T]:
    """Serve in another thread, because a command runs its own event loop in this one."""
    started: queue.Queue[tuple[T, Callable[[], object]]] = queue.Queue()

    async def serve() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        async with host() as place:
            started.put((place, partial(loop.call_soon_threadsafe, stop.set)))
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    place, stop = started.get(timeout=PATIENCE)
    try:
        yield place
    finally:
        stop()
        thread.join()
