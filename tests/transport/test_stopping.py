"""A server that stops: requests in progress are finished or answered, streams end, new ones are refused."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect

from assay import Context, Limits
from assay.revisions.registry import HANDSHAKE
from tests.driving.answer import PATIENCE, Answer
from tests.driving.asgi import BOTH, AsgiPeer
from tests.driving.describing import describe, mirrors
from tests.driving.messages import call, initialize
from tests.driving.process import ROOT, environment
from tests.driving.sockets import SocketPeer
from tests.driving.websocket import AsgiSocket, Closed
from tests.transport.subject import Subject

NEWEST = HANDSHAKE[-1]
STOPPING = {"code": -32603, "message": "the server is stopping"}


def speaking_subject(drain: float) -> Subject:
    subject = Subject(limits=Limits(drain=drain))

    @subject.server.tool
    async def speak_and_hold(ctx: Context) -> str:
        await ctx.log("error", "begun")
        return await subject.hold(ctx)

    return subject


async def begun(app: Any, subject: Subject, wire: str) -> Answer:
    """A call in progress."""
    peer = AsgiPeer(app)
    if wire == "described":
        message = describe("tools/call", {"name": "speak_and_hold"})
        answer = peer.begin("POST", message, headers=mirrors(message))
    else:
        if wire != "alone":
            await peer.shake_hands(NEWEST)
        answer = peer.begin("POST", call("hold" if wire == "session" else "speak_and_hold"))
    await subject.started.wait()
    return answer


WIRES = pytest.mark.parametrize("wire", ["session", "stream of a session", "alone", "described"])


@WIRES
async def test_request_that_ends_in_time_gets_its_result(wire: str) -> None:
    subject = speaking_subject(drain=60.0)
    app = subject.server.asgi()
    answer = await begun(app, subject, wire)
    closing = asyncio.create_task(app.close())
    refused = await AsgiPeer(app).post(call("add", a=1, b=2))
    assert (refused.status, closing.done()) == (503, False)
    subject.release.set()
    *_, last = await answer.messages()
    assert last["result"]["content"][0]["text"] == "released"
    async with asyncio.timeout(PATIENCE):
        await closing


@WIRES
async def test_request_that_takes_too_long_is_answered_with_an_error(wire: str) -> None:
    subject = speaking_subject(drain=0.01)
    app = subject.server.asgi()
    answer = await begun(app, subject, wire)
    async with asyncio.timeout(PATIENCE):
        await app.close()
    *_, last = await answer.messages()
    assert last["error"] == STOPPING
    assert subject.cancelled.is_set()


async def test_new_requests_are_refused_and_say_when_to_return() -> None:
    app = Subject(limits=Limits(drain=2.5)).server.asgi()
    peer = AsgiPeer(app)
    await app.close()
    for method, body in (("POST", call("add", a=1, b=2)), ("GET", b""), ("DELETE", b"")):
        answer = await peer.begin(method, body).complete()
        assert (answer.status, answer.headers["retry-after"], answer.headers["connection"]) == (
            503,
            "3",
            "close",
        )
        assert answer.json["error"]["message"] == "the server is stopping; try again later"


async def test_hop_by_hop_header_is_left_out_on_other_versions_of_http() -> None:
    app = Subject().server.asgi()
    await app.close()
    answer = await AsgiPeer(app, http_version="2").post(call("add", a=1, b=2))
    assert (answer.status, "connection" in answer.headers) == (503, False)


async def test_new_websocket_is_refused() -> None:
    app = Subject().server.asgi()
    await app.close()
    client = AsgiSocket(app)
    with pytest.raises(Closed):
        await client.__aenter__()
    assert client.status == 503


async def test_request_whose_body_arrives_too_late_is_refused() -> None:
    app = Subject().server.asgi()
    waiting, gate = asyncio.Event(), asyncio.Event()
    parts = [b'{"jsonrpc":"2.0","id":1,', b'"method":"ping"}']
    sent: list[Any] = []

    async def receive() -> Any:
        if len(parts) == 1:
            waiting.set()
            await gate.wait()
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {"host": "localhost", "content-type": "application/json", "accept": BOTH}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "http_version": "1.1",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    serving = asyncio.ensure_future(app(scope, receive, send))
    await waiting.wait()
    await app.close()
    gate.set()
    await serving
    assert sent[0]["status"] == 503


async def test_streams_stay_open_for_requests_in_progress_and_end_properly() -> None:
    subject = Subject(limits=Limits(drain=60.0))
    app = subject.server.asgi()
    async with await AsgiPeer(app).shake_hands(NEWEST) as peer:
        following = await peer.begin("GET").started()
        held = peer.begin("POST", call("hold"))
        await subject.started.wait()
        closing = asyncio.create_task(app.close())
        assert (await peer.post(call("add", a=1, b=2))).status == 503
        assert not following.task.done()
        subject.release.set()
        assert (await held.complete()).status == 200
        assert await following.messages() == []
        await closing


async def test_application_that_is_started_again_serves() -> None:
    app = Subject().server.asgi()
    await app.close()
    app.start()
    assert (await AsgiPeer(app).post(call("add", a=1, b=2))).status == 200
    await app.close()


async def test_handler_may_stop_the_server() -> None:
    subject = Subject(limits=Limits(drain=0.01))
    app = subject.server.asgi()

    @subject.server.tool
    async def stop() -> str:
        await app.close()
        return "stopped"

    async with asyncio.timeout(PATIENCE):
        answer = await AsgiPeer(app).post(call("stop"))
    assert answer.json["error"] == STOPPING


# Real processes

SERVER = """
import asyncio, sys
from assay import Context, Limits, Server

server = Server("stopping", limits=Limits(drain=float(sys.argv[1])))
released = asyncio.Event()

@server.tool
async def hold() -> str:
    print("begun", flush=True)
    await released.wait()
    return "released"

@server.tool
async def speak_and_hold(ctx: Context) -> str:
    await ctx.log("error", "begun")
    return await hold()

@server.background
async def release() -> None:
    asyncio.get_running_loop().add_reader(0, released.set)

server.run("ws", port=0, announce=lambda url: print(url, flush=True))
"""


class Process:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(2 * PATIENCE):
            return (await self._process.stdout.readline()).decode().strip()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def release(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")

    async def ended(self) -> int:
        async with asyncio.timeout(2 * PATIENCE):
            return await self._process.wait()


@asynccontextmanager
async def started(path: Path, drain: float) -> AsyncIterator[tuple[Process, int]]:
    path.write_text(SERVER, "utf-8")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(path), str(drain), cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe
    )
    driven = Process(process)
    try:
        port = urlsplit(await driven.line()).port
        assert port is not None
        yield driven, port
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def text_of(answer: Any) -> str:
    """What a tool returned, or why it failed."""
    content = answer["error"]["message"] if "error" in answer else answer["result"]["content"][0]["text"]
    return str(content)


async def stops_listening(port: int, idle: asyncio.StreamReader) -> None:
    """Wait until the server has closed this idle connection; by then it refuses new ones."""
    async with asyncio.timeout(PATIENCE):
        assert await idle.read() == b""
    with pytest.raises(ConnectionError):
        await asyncio.open_connection("127.0.0.1", port)


async def open_session(peer: SocketPeer) -> None:
    answer = await peer.post(initialize(NEWEST))
    peer.session, peer.version = answer.headers["mcp-session-id"], NEWEST.date


@pytest.mark.parametrize(("in_time", "drain"), [(True, 60.0), (False, 0.1)])
async def test_sigterm_answers_every_request_in_progress(tmp_path: Path, in_time: bool, drain: float) -> None:
    """In an HTTP session, on a stream, outside of a session, and on a WebSocket."""
    async with started(tmp_path / "server.py", drain) as (process, port):
        url = f"http://localhost:{port}/mcp"
        async with SocketPeer(url) as peer, connect(f"ws://localhost:{port}/mcp/ws", proxy=None) as socket:
            await open_session(peer)
            idle, writer = await asyncio.open_connection("127.0.0.1", port)
            following = await peer.begin("GET").started()
            held = [peer.begin("POST", call(name, name)) for name in ("hold", "speak_and_hold")]
            alone = SocketPeer(url)
            held.append(alone.begin("POST", call("hold")))
            await socket.send(json.dumps(initialize(NEWEST)))
            await socket.recv()
            await socket.send(json.dumps(call("hold")))
            for _ in range(4):
                assert await process.line() == "begun"
            process.stop()
            if in_time:
                await stops_listening(port, idle)
                process.release()
            answers = [(await each.messages())[-1] for each in held]
            answers.append(json.loads(await socket.recv()))
            texts = [text_of(answer) for answer in answers]
            assert texts == ["released" if in_time else "the server is stopping"] * 4
            assert (await following.complete()).status == 200
            async with asyncio.timeout(PATIENCE):
                await socket.wait_closed()
            assert socket.close_code == 1001
            await alone.__aexit__(None, None, None)
            writer.close()
        assert await process.ended() == 0
