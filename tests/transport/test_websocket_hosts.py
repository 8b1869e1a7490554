"""A public WebSocket client and our application, on our own server and on others, over real sockets."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp_types.methods import validate_server_result
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from assay import Limits
from assay.revisions.registry import HANDSHAKE, REVISIONS
from assay.revisions.revision import Opening, Revision
from assay.transport.http1.listening import listen
from tests.driving.answer import PATIENCE
from tests.driving.describing import ASKABLE, describe, sampled
from tests.driving.hosts import HOSTS, on_assay
from tests.driving.messages import initialize, notification, request
from tests.transport.subject import WATCHED, Subject

EVERYWHERE = pytest.mark.parametrize("host", HOSTS)


class Client:
    """A client on `websockets` that tracks ids and answers questions."""

    def __init__(self, connection: ClientConnection, revision: Revision) -> None:
        self.connection = connection
        self.revision = revision
        self.notifications: list[dict[str, Any]] = []
        self._ids = itertools.count(1)

    async def send(self, message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def receive(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self.connection.recv())

    async def result(self, method: str, params: Any = None, answer: Any = None) -> Any:
        request_id = next(self._ids)
        if self.revision.opening is Opening.PER_REQUEST:
            await self.send(describe(method, params, request_id, capabilities=ASKABLE))
        else:
            await self.send(request(method, params, request_id))
        while True:
            message = await self.receive()
            if message.get("id") == request_id and "method" not in message:
                validate_server_result(method, self.revision.date, message["result"])
                return message["result"]
            self.notifications.append(message)
            if "id" in message:
                await self.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})

    async def call(self, name: str, answer: Any = None, /, **arguments: Any) -> Any:
        return await self.result("tools/call", {"name": name, "arguments": arguments}, answer)

    async def closed(self) -> tuple[int, str]:
        async with asyncio.timeout(PATIENCE):
            try:
                while True:
                    await self.connection.recv()
            except ConnectionClosed as error:
                return (1006, "") if error.rcvd is None else (error.rcvd.code, error.rcvd.reason)


@asynccontextmanager
async def connected(host: str, subject: Subject, revision: Revision = HANDSHAKE[-1]) -> AsyncIterator[Client]:
    async with HOSTS[host](subject.server.asgi()) as port:
        url = f"ws://localhost:{port}/mcp/ws"
        async with connect(url, subprotocols=["mcp"], proxy=None) as connection:  # type: ignore[list-item]
            assert connection.subprotocol == "mcp"
            client = Client(connection, revision)
            if revision.opening is Opening.HANDSHAKE:
                await client.send(initialize(revision, {"sampling": {}, "roots": {}, "elicitation": {}}))
                assert (await client.receive())["result"]["protocolVersion"] == revision.date
                await client.send(notification("notifications/initialized"))
            yield client


@EVERYWHERE
@pytest.mark.parametrize("revision", REVISIONS, ids=str)
async def test_client_uses_everything(host: str, revision: Revision) -> None:
    subject = Subject()
    async with connected(host, subject, revision) as client:
        tools = await client.result("tools/list")
        assert "add" in {tool["name"] for tool in tools["tools"]}
        assert "5" in (await client.call("add", a=2, b=3))["content"][0]["text"]
        assert (await client.call("crash"))["isError"] is True
        read = await client.result("resources/read", {"uri": "notes://shopping"})
        assert read["contents"][0]["text"] == "# shopping"
        prompt = await client.result("prompts/get", {"name": "review", "arguments": {"code": "x"}})
        assert prompt["messages"][0]["role"] == "user"
        ref = {
            "ref": {"type": "ref/prompt", "name": "review"},
            "argument": {"name": "language", "value": "p"},
        }
        assert (await client.result("completion/complete", ref))["completion"]["values"] == ["python", "perl"]
        params = {"name": "report", "arguments": {}, "_meta": {"progressToken": 1}}
        if revision.opening is Opening.HANDSHAKE:
            await client.result("tools/call", params)
            assert [each["params"]["progress"] for each in client.notifications] == [1, 2, 3]
            client.notifications.clear()
            reply = await client.call("sample", sampled("Hi."), prompt="Hello?")
            assert reply["content"][0]["text"] == "Hi."
            await client.result("resources/subscribe", {"uri": WATCHED})
            await client.call("touch")
            await client.result("ping")
            assert "notifications/resources/updated" in {each["method"] for each in client.notifications}
        await (await client.connection.ping())


@EVERYWHERE
async def test_bad_message_is_answered_and_the_connection_stays(host: str) -> None:
    async with connected(host, Subject()) as client:
        await client.connection.send("{not json}")
        assert (await client.receive())["error"]["code"] == -32700
        await client.connection.send(["[", "1", "]"])  # in fragments
        assert (await client.receive())["error"]["code"] == -32600
        assert await client.result("ping") == {}


@EVERYWHERE
async def test_binary_frame_closes_with_1003(host: str) -> None:
    async with connected(host, Subject()) as client:
        await client.connection.send(b"{}")
        assert (await client.closed())[0] == 1003


@EVERYWHERE
async def test_message_over_the_limit_closes_with_1009(host: str) -> None:
    async with connected(host, Subject(limits=Limits(message_bytes=100_000))) as client:
        await client.connection.send("x" * 100_001)
        assert (await client.closed())[0] == 1009


@EVERYWHERE
@pytest.mark.parametrize(
    ("name", "options", "status", "words"),
    [
        ("localhost", {"origin": "http://evil.example"}, 403, "allowed_origins"),
        ("evil.example", {}, 421, "allowed_hosts"),
        ("localhost", {"subprotocols": ["graphql-ws"]}, 400, "offer mcp"),
    ],
)
async def test_other_origin_is_refused_with_a_reason(
    host: str, name: str, options: dict[str, Any], status: int, words: str
) -> None:
    async with HOSTS[host](Subject().server.asgi()) as port:
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://{name}/mcp", host="127.0.0.1", port=port, proxy=None, **options)
        assert refused.value.response.status_code == status
        assert words.encode() in (refused.value.response.body or b"")


@EVERYWHERE
async def test_disconnect_cancels_running_requests(host: str) -> None:
    subject = Subject()
    async with connected(host, subject) as client:
        await client.send(request("tools/call", {"name": "hold"}))
        async with asyncio.timeout(PATIENCE):
            await subject.started.wait()
            await client.connection.close()
            await subject.cancelled.wait()


async def test_http_and_websocket_live_on_one_port() -> None:
    app = Subject().server.asgi()
    async with on_assay(app) as port, connect(f"ws://localhost:{port}/mcp", proxy=None) as connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = json.dumps(request("ping")).encode()
        head = (
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        assert b"200" in await reader.readline()
        writer.close()
        await writer.wait_closed()
        await connection.send(json.dumps(request("ping")))
        assert json.loads(await connection.recv())["result"] == {}


async def test_small_messages_do_not_wait_for_each_other() -> None:
    """Without TCP_NODELAY, a reply directly after a notification waits 40 ms for its acknowledgement."""
    no_delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    class Probe(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted = transport.get_extra_info("socket")
            no_delay.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            transport.close()

    with listen("127.0.0.1", 0) as bound:
        server = await asyncio.get_running_loop().create_server(Probe, sock=bound)
        async with server, asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(*bound.getsockname())
            assert await no_delay
            writer.close()
            await writer.wait_closed()


async def test_stopping_server_closes_after_work_has_finished() -> None:
    subject = Subject()
    app = subject.server.asgi()
    async with on_assay(app) as port, connect(f"ws://localhost:{port}/mcp", proxy=None) as connection:
        client = Client(connection, HANDSHAKE[-1])
        await client.send(initialize(HANDSHAKE[-1]))
        await client.receive()
        await client.send(request("tools/call", {"name": "hold"}, "held"))
        await subject.started.wait()
        closing = asyncio.create_task(app.close())
        assert await client.result("ping") == {}
        subject.release.set()
        assert (await client.receive())["id"] == "held"
        assert await client.closed() == (1001, "the server is stopping")
        await closing
