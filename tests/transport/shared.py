"""Several servers that share a store, each in the role of one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from assay import Context
from tests.driving.asgi import AsgiPeer
from tests.store.backend import Backend
from tests.transport.subject import Subject


class Worker(Subject):
    """The server of one process."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.server.tool(self.talk)
        self.server.tool(self.note_down)

    async def talk(self, ctx: Context) -> str:
        """Send one message, wait, and then send the rest."""
        await ctx.log("info", "1")
        await self.release.wait()
        await ctx.log("info", "2")
        await ctx.log("info", "3")
        return "talked"

    def note_down(self, text: str, ctx: Context) -> str:
        """Add a text to those of this client, and return all."""
        ctx.session["notes"] = [*ctx.session.get("notes", []), text]
        return ",".join(ctx.session["notes"])


Prepare = Callable[[Worker], None]


class Workers:
    """Servers with the same store. A client that moves to another one keeps its session."""

    def __init__(self, backend: Backend, prepare: Prepare, options: dict[str, Any]) -> None:
        self._backend = backend
        self._prepare = prepare
        self._options = options
        self.workers: list[Worker] = []
        self.apps: list[Any] = []

    async def add(self) -> None:
        worker = Worker(store=self._backend.url, **self._options)
        self._prepare(worker)
        app: Any = worker.server.asgi(heartbeat=0.5)
        await app.start()
        self.workers.append(worker)
        self.apps.append(app)

    def moved(self, client: AsgiPeer, number: int, *, principal: Any = None) -> AsgiPeer:
        """The same client, at another process."""
        copy = AsgiPeer(self.apps[number], principal=principal)
        copy.session, copy.version = client.session, client.version
        return copy

    def bury(self, number: int) -> None:
        """Let a process count as dead: it shows its life under another name from now on."""
        bus: Any = self.workers[number].server.store.bus  # type: ignore[union-attr]
        name, bus.worker = bus.worker, f"{bus.worker}x"
        self._backend.forget_worker(name)

    async def close(self) -> None:
        for worker in self.workers:
            worker.release.set()
        await asyncio.gather(*(app.close() for app in self.apps))


@asynccontextmanager
async def workers(
    backend: Backend, count: int = 2, *, prepare: Prepare = lambda worker: None, **options: Any
) -> AsyncIterator[Workers]:
    serving = Workers(backend, prepare, options)
    try:
        for _ in range(count):
            await serving.add()
        yield serving
    finally:
        await serving.close()
