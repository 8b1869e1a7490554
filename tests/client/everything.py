"""The everything server on each transport, for the client to connect to."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from assay import Client, Stdio
from assay.bundled import everything
from assay.bundled.everything import server
from tests.driving.hosts import on_assay
from tests.driving.process import ROOT, environment
from tests.driving.warm_python import warm_python

Open = Callable[[], AbstractAsyncContextManager[Any]]
WATCHED_TEXT: Final = everything.texts[everything.WATCHED]


def python(*arguments: str, **options: Any) -> Stdio:
    """A Python process with the package of this repository."""
    return Stdio(warm_python(), *arguments, env=environment(), cwd=ROOT, **options)


@contextlib.asynccontextmanager
async def in_memory() -> AsyncIterator[Any]:
    yield server


@contextlib.asynccontextmanager
async def on_stdio() -> AsyncIterator[Any]:
    yield python("-c", "from assay.bundled.everything import server; server.run()")


@contextlib.asynccontextmanager
async def on_http() -> AsyncIterator[Any]:
    async with on_assay(server.asgi()) as port:
        yield f"http://127.0.0.1:{port}/mcp"


@contextlib.asynccontextmanager
async def on_websocket() -> AsyncIterator[Any]:
    async with on_assay(server.asgi(websocket="on")) as port:
        yield f"ws://127.0.0.1:{port}/mcp/ws"


TRANSPORTS: Final[dict[str, Open]] = {
    "memory": in_memory,
    "stdio": on_stdio,
    "http": on_http,
    "websocket": on_websocket,
}


@contextlib.asynccontextmanager
async def connected(transport: str, **options: Any) -> AsyncIterator[Client]:
    async with TRANSPORTS[transport]() as target, Client(target, **options) as client:
        yield client


def restore() -> None:
    """Undo what calls changed: the tests of one process share the server."""
    for registry, name in ((server.tools, "passing_tool"), (server.prompts, "passing_prompt")):
        if any(registered.name == name for registered in registry.list()):
            registry.remove(name)
    everything.texts[everything.WATCHED] = WATCHED_TEXT
