"""Measure the tasks, descriptors and memory of this process, and serve an application under load in it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import uvicorn

from assay.model.jsonrpc import Envelope
from assay.protocol.scope import Scope
from assay.protocol.session import Session
from assay.server.calls.call import Call
from assay.transport.asgi.exchange import Exchange
from assay.transport.asgi.follower import Follower
from assay.transport.asgi.sessions import HttpSession
from assay.transport.asgi.stream import Stream
from assay.transport.asgi.websocket import WebSocketSession
from assay.transport.asgi.websocket_writer import WebSocketWriter
from assay.transport.http1.connection import HttpConnection
from assay.transport.http1.listening import listen
from assay.transport.http1.request_cycle import RequestCycle
from assay.transport.http1.websocket import WebSocketConnection
from tests.driving.answer import PATIENCE


async def turn() -> None:
    """Run one iteration of the event loop."""
    gone = asyncio.Event()
    asyncio.get_running_loop().call_soon(gone.set)
    await gone.wait()


async def until(fact: Callable[[], bool]) -> None:
    async with asyncio.timeout(2 * PATIENCE):
        while not fact():
            await turn()


async def until_still(count: Callable[[], int], turns: int = 300) -> int:
    """Wait until a count has not changed for so many iterations."""
    last, quiet = count(), 0
    async with asyncio.timeout(2 * PATIENCE):
        while quiet < turns:
            await turn()
            quiet = quiet + 1 if count() == last else 0
            last = count()
    return last


PER_CLIENT: Final = (
    *(HttpConnection, RequestCycle, WebSocketConnection),
    *(Exchange, Follower, HttpSession, Stream, WebSocketSession, WebSocketWriter),
    *(Call, Envelope, Scope, Session),
)


def in_cycles() -> Counter[str]:
    """Objects of connections and calls that only a collection frees, by type. Clients in this process, and
    asyncio, leave cycles of their own behind; these are freed here."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
    finally:
        gc.set_debug(0)
    names = Counter(type(each).__name__ for each in gc.garbage if isinstance(each, PER_CLIENT))
    gc.garbage.clear()
    gc.collect()
    return names


@dataclass(frozen=True, slots=True)
class Held:
    tasks: int
    descriptors: int
    memory: int

    @classmethod
    def now(cls) -> Held:
        cycles = in_cycles()
        assert not cycles, cycles
        descriptors = len(os.listdir("/proc/self/fd"))
        return cls(len(asyncio.all_tasks()), descriptors, tracemalloc.get_traced_memory()[0])


async def returned_to(before: Held, *, slack: int) -> None:
    """Assert that everything is released; memory may differ by `slack` bytes, for caches and counters."""
    # uvicorn needs an iteration or two to notice a disconnect.
    with contextlib.suppress(TimeoutError):
        await until(
            lambda: (
                (len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd")))
                == (before.tasks, before.descriptors)
            )
        )
    after = Held.now()
    assert (before.tasks, before.descriptors) == (after.tasks, after.descriptors), asyncio.all_tasks()
    assert after.memory - before.memory < slack


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Trace memory. No collection runs meanwhile, so that `in_cycles` sees everything that it would free."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
        gc.enable()


@contextlib.asynccontextmanager
async def on_uvicorn(app: Any) -> AsyncIterator[int]:
    """The port on which the application is served."""
    bound = listen("127.0.0.1", 0)
    # Connections are used once, and idle ones would count as leaked.
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_keep_alive=0)
    server = uvicorn.Server(config)
    serving = asyncio.get_running_loop().create_task(server.serve(sockets=[bound]))
    try:
        await until(lambda: server.started)
        yield bound.getsockname()[1]
    finally:
        await app.close()
        server.should_exit = True
        await serving
        bound.close()
