"""The lifespan of a server on every transport, in its own process and inside other applications."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from assay import Context, Server
from assay.profile import Profile
from assay.revisions.registry import HANDSHAKE
from assay.transport.http1.listening import listen
from tests.driving.answer import PATIENCE
from tests.driving.asgi import AsgiPeer
from tests.driving.client import TRANSPORTS, connect
from tests.driving.messages import call
from tests.driving.process import http_process, script, stdio_process
from tests.driving.sockets import SocketPeer

NEWEST = HANDSHAKE[-1]
POST = {"accept": "application/json, text/event-stream", "host": "localhost"}


class Watched:
    """A server that records what its lifespan does."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.server = Server("watched", lifespan=self._lifespan)
        self.server.tool(self.state)

    @asynccontextmanager
    async def _lifespan(self, server: Server) -> AsyncIterator[str]:
        self.events.append("enter")
        yield "ready"
        self.events.append("exit")

    async def state(self, ctx: Context) -> str:
        return str(ctx.lifespan)


def text_of(answer: Any) -> str:
    text: str = answer.json["result"]["content"][0]["text"]
    return text


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_transport_starts_it(transport: str) -> None:
    watched = Watched()
    async with connect(watched.server, transport, NEWEST) as client:
        for _ in range(2):
            assert (await client.call("state"))["content"][0]["text"] == "ready"
    await watched.server.stop()
    assert watched.events == ["enter", "exit"]


async def lifespan_events(app: Any) -> list[dict[str, str]]:
    """What the application answers to start and stop of an ASGI server."""
    sent: list[dict[str, str]] = []
    events = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive() -> dict[str, str]:
        return next(events)

    async def send(message: dict[str, str]) -> None:
        sent.append(message)

    async with asyncio.timeout(PATIENCE):
        await app({"type": "lifespan"}, receive, send)
    return sent


async def test_asgi_server_starts_and_stops_it() -> None:
    watched = Watched()
    sent = await lifespan_events(watched.server.asgi())
    assert [event["type"] for event in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert watched.events == ["enter", "exit"]


@asynccontextmanager
async def failing(server: Server) -> AsyncIterator[None]:
    raise ConnectionError("no database")
    yield


async def test_asgi_server_gets_the_reason_of_a_failed_start() -> None:
    (event,) = await lifespan_events(Server("broken", lifespan=failing).asgi())
    assert event["type"] == "lifespan.startup.failed"
    assert "server broken failed: ConnectionError: no database" in event["message"]


async def test_on_uvicorn() -> None:
    watched, bound = Watched(), listen("127.0.0.1", 0)
    host = uvicorn.Server(uvicorn.Config(watched.server.asgi(), log_level="critical", lifespan="on"))
    serving = asyncio.create_task(host.serve(sockets=[bound]))
    async with SocketPeer(f"http://localhost:{bound.getsockname()[1]}/mcp") as peer:
        assert text_of(await peer.post(call("state"))) == "ready"
    host.should_exit = True
    async with asyncio.timeout(PATIENCE):
        await serving
    bound.close()
    assert watched.events == ["enter", "exit"]


# Mounted in another application


def _fastapi(app: Any, lifespan: Any) -> FastAPI:
    host = FastAPI(lifespan=lifespan)
    host.mount("/api", app)
    return host


def _starlette(app: Any, lifespan: Any) -> Starlette:
    return Starlette(routes=[Mount("/api", app=app)], lifespan=lifespan)


HOSTS: dict[str, Any] = {"fastapi": _fastapi, "starlette": _starlette}


@pytest.mark.parametrize("make_host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("wrap", [False, True], ids=["plain", "inside a layer"])
def test_host_that_joins_starts_and_stops_it(
    make_host: Any, wrap: bool, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched()
    if wrap:
        watched.server.use(Profile())
    app = watched.server.asgi()
    with TestClient(make_host(app, app.lifespan)) as client:
        assert watched.events == ["enter"]
        assert client.post("/api/mcp", json=call("state"), headers=POST).status_code == 200
    assert watched.events == ["enter", "exit"]
    assert "lifespan" not in caplog.text


@pytest.mark.parametrize("make_host", HOSTS.values(), ids=HOSTS)
def test_host_with_a_lifespan_of_its_own_joins_inside_it(make_host: Any) -> None:
    watched = Watched()
    app = watched.server.asgi()

    @asynccontextmanager
    async def own(host: Any) -> AsyncIterator[dict[str, str]]:
        watched.events.append("host enters")
        yield {"state": "of the host"}
        watched.events.append("host exits")

    with TestClient(make_host(app, app.joined(own))) as client:
        assert client.app_state["state"] == "of the host"
        assert client.post("/api/mcp", json=call("state"), headers=POST).status_code == 200
    assert watched.events == ["host enters", "enter", "exit", "host exits"]


async def test_first_request_starts_it_if_the_host_does_not(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    async with AsgiPeer(HOSTS["starlette"](watched.server.asgi(), None), path="/api/mcp") as peer:
        for _ in range(2):
            assert text_of(await peer.post(call("state"))) == "ready"
        await watched.server.stop()
        assert text_of(await peer.post(call("state"))) == "ready"
    await watched.server.stop()
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "the first request starts the lifespan of server watched" in warning
    assert "pass lifespan=app.lifespan to FastAPI or Starlette" in warning
    assert watched.events == ["enter", "exit"] * 2


# Real processes

SERVER = """
import sys
from contextlib import asynccontextmanager
from assay import Context, Server

@asynccontextmanager
async def lifespan(server):
    {start}
    print("entered", file=sys.stderr, flush=True)
    yield "ready"
    print("exited", file=sys.stderr, flush=True)

server = Server("shop", lifespan=lifespan)

@server.tool
async def state(ctx: Context) -> str:
    return ctx.lifespan

if __name__ == "__main__":
    server.run({run})
"""
ON_HTTP = '"http", port=0, announce=lambda url: print(url, flush=True)'
COMMANDS = {
    "run on stdio": ("", []),
    "run on http": ('"http", port=0', []),
    "serve on stdio": ("", ["-m", "assay", "serve"]),
    "serve on http": ("", ["-m", "assay", "serve", "--transport", "http", "--port", "0"]),
}


async def test_process_on_stdio_exits_it_after_the_last_answer(tmp_path: Path) -> None:
    async with stdio_process(*script(tmp_path / "server.py", SERVER.format(start="", run=""))) as server:
        await server.send(call("state"))
        server.end_input()
        await server.rest()
        assert await server.exit_code() == 0
    assert server.errors.split() == [b"entered", b"exited"]


async def test_process_on_http_serves_with_it(tmp_path: Path) -> None:
    command = script(tmp_path / "server.py", SERVER.format(start="", run=ON_HTTP))
    async with http_process(*command) as url, SocketPeer(url) as peer:
        assert text_of(await peer.post(call("state"))) == "ready"


@pytest.mark.parametrize(("run", "arguments"), COMMANDS.values(), ids=COMMANDS)
async def test_process_whose_lifespan_fails_prints_one_line(
    tmp_path: Path, run: str, arguments: list[str]
) -> None:
    (path,) = script(tmp_path / "server.py", SERVER.format(start='raise OSError("no database")', run=run))
    async with stdio_process(*arguments, path) as server:
        assert await server.exit_code() == 4
    (line,) = server.errors.decode().splitlines()
    problem = f"error: the lifespan of server shop failed: OSError: no database ({path}, line 8)"
    assert line.removeprefix("assay: ") == problem


@pytest.mark.parametrize("run", ["", '"http", port=0'], ids=["stdio", "http"])
async def test_signal_during_the_start_ends_the_process(tmp_path: Path, run: str) -> None:
    start = "import asyncio, os, signal; os.kill(os.getpid(), signal.SIGTERM); await asyncio.Event().wait()"
    async with stdio_process(*script(tmp_path / "server.py", SERVER.format(start=start, run=run))) as server:
        assert await server.exit_code() == 0
    assert server.errors == b""


HANGS = """
import asyncio, os, signal
from contextlib import asynccontextmanager
from assay import Server

@asynccontextmanager
async def lifespan(server):
    loop = asyncio.get_running_loop()
    loop.call_soon(os.kill, os.getpid(), signal.SIGINT)
    yield
    loop.call_soon(os.kill, os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()

Server("shop", lifespan=lifespan).run({run})
"""


@pytest.mark.parametrize("run", ["", '"http", port=0'], ids=["stdio", "http"])
async def test_second_interrupt_does_not_wait_for_the_lifespan(tmp_path: Path, run: str) -> None:
    async with stdio_process(*script(tmp_path / "server.py", HANGS.format(run=run))) as server:
        assert await server.exit_code() == 130
    assert server.errors == b""
