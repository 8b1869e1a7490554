"""ASGI servers, our own and others, in this process and on a free port."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import hypercorn.asyncio
import uvicorn
from hypercorn.config import Config as HypercornConfig

from assay.model.limits import Limits
from assay.transport.http1.listening import listen
from assay.transport.http1.server import serve
from tests.driving.answer import PATIENCE

Host = Callable[[Any], AbstractAsyncContextManager[int]]


@contextlib.asynccontextmanager
async def on_assay(app: Any, limits: Limits | None = None) -> AsyncIterator[int]:
    bound, stop = listen("127.0.0.1", 0), asyncio.Event()
    serving = asyncio.create_task(serve(app, bound, stop.wait, limits=limits or Limits()))
    async with _stopped(serving, stop.set):
        yield bound.getsockname()[1]


@contextlib.asynccontextmanager
async def on_uvicorn(app: Any) -> AsyncIterator[int]:
    bound = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="websockets-sansio"))
    serving = asyncio.create_task(server.serve(sockets=[bound]))

    def stop() -> None:
        server.should_exit = True

    async with _stopped(serving, stop):
        yield bound.getsockname()[1]
    bound.close()


@contextlib.asynccontextmanager
async def on_hypercorn(app: Any) -> AsyncIterator[int]:
    bound, stop, config = listen("127.0.0.1", 0), asyncio.Event(), HypercornConfig()
    port = bound.getsockname()[1]
    # Hypercorn takes over the descriptor and closes it.
    config.bind, config.errorlog, config.graceful_timeout = [f"fd://{bound.detach()}"], None, 1.0
    serving = asyncio.create_task(hypercorn.asyncio.serve(app, config, shutdown_trigger=stop.wait))
    async with _stopped(serving, stop.set):
        yield port


@contextlib.asynccontextmanager
async def _stopped(serving: asyncio.Task[None], stop: Callable[[], None]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        stop()
        async with asyncio.timeout(2 * PATIENCE):
            await serving


HOSTS: Final[dict[str, Host]] = {"assay": on_assay, "uvicorn": on_uvicorn, "hypercorn": on_hypercorn}
