"""Background tasks: started with serving, once per event loop, and cancelled at the end."""

from __future__ import annotations

import asyncio

import pytest

from assay import Server
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import DescribingClient
from tests.server.scripted import ScriptedClient, quiescence, reached


class Work:
    def __init__(self) -> None:
        self.begun = 0
        self.running = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self) -> None:
        self.begun += 1
        self.running.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


def make_server() -> tuple[Server, Work]:
    server, work = Server("test"), Work()
    server.background(work)
    return server, work


async def test_task_starts_once_with_the_first_session() -> None:
    server, work = make_server()
    async with ScriptedClient(server), ScriptedClient(server):
        await reached(work.running)
        server.start()
        await quiescence()
    assert (work.begun, work.ended.is_set()) == (1, False)
    await server.stop()
    await server.stop()
    assert work.ended.is_set()


async def test_stopped_task_can_be_started_again() -> None:
    server, work = make_server()
    for _ in range(2):
        server.start()
        await reached(work.running)
        await server.stop()
        work.running.clear()
    assert work.begun == 2


async def test_task_starts_with_a_listen_stream() -> None:
    server, work = make_server()
    client = DescribingClient(server)
    listening = asyncio.create_task(
        client.result("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    )
    await reached(work.running)
    server.end_listening()
    await listening
    await server.stop()


async def test_asgi_lifespan_starts_and_stops_the_task() -> None:
    server, work = make_server()
    inbox: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    sent: list[str] = []

    async def send(message: dict[str, str]) -> None:
        sent.append(message["type"])
        if message["type"] == "lifespan.startup.complete":
            await reached(work.running)
            inbox.put_nowait({"type": "lifespan.shutdown"})

    inbox.put_nowait({"type": "lifespan.startup"})
    app = server.asgi(sessions="off")
    await app({"type": "lifespan"}, inbox.get, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert work.ended.is_set()
    async with AsgiPeer(app) as peer:
        assert (await peer.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status == 503
        app.start()  # as test clients do that use an application several times
        assert (await peer.post({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status == 200
        await app.close()
    assert work.begun == 2


async def test_failure_is_logged_only(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("test")

    @server.background
    async def fails() -> None:
        raise ValueError("out of luck")

    async with ScriptedClient(server) as client:
        await quiescence()
        assert await client.result("ping") == {}
    await server.stop()
    assert "background work" in caplog.text and "out of luck" in caplog.text
