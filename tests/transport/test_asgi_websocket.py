"""WebSocket connections of the ASGI application: access, messages and closing."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute

from assay import Context, Limits, Server
from assay.revisions.registry import HANDSHAKE
from assay.transport.asgi import websocket
from tests.driving.answer import PATIENCE
from tests.driving.describing import describe
from tests.driving.messages import call, initialize, notification, request
from tests.driving.websocket import AsgiSocket, Closed
from tests.transport.subject import Subject

NEWEST = HANDSHAKE[-1]
PING = request("ping", request_id="ping")
PONG = {"jsonrpc": "2.0", "id": "ping", "result": {}}


async def shake_hands(client: AsgiSocket, **capabilities: Any) -> None:
    assert "result" in await client.ask(initialize(NEWEST, capabilities))
    await client.send(notification("notifications/initialized"))


async def refused(app: Any, **options: Any) -> AsgiSocket:
    client = AsgiSocket(app, **options)
    with pytest.raises(Closed):
        await client.__aenter__()
    return client


# Access


@pytest.mark.parametrize(
    ("own", "path"),
    [
        ("/mcp", "/mcp"),
        ("/mcp", "/mcp/ws"),
        ("/mcp", "/mcp/ws/"),
        ("/", "/ws"),
        ("/", "/"),
        (None, "/any"),
    ],
)
async def test_connection_is_opened_at_the_path_and_below_it(own: str | None, path: str) -> None:
    async with AsgiSocket(Subject().server.asgi(path=own), path=path) as client:
        assert await client.ask(PING) == PONG


@pytest.mark.parametrize("path", ["/", "/ws", "/mcp/wss", "/mcp/ws/ws", "/other"])
async def test_connection_elsewhere_is_not_found(path: str) -> None:
    client = await refused(Subject().server.asgi(), path=path)
    assert (client.status, "no WebSocket endpoint at" in client.body.decode()) == (404, True)


@pytest.mark.parametrize(
    ("own", "path"), [("/mcp", "/api/mcp/ws"), ("/mcp", "/api/mcp"), ("/mcp", "/api/ws"), (None, "/api/x")]
)
async def test_mounted_application_is_reached_under_the_prefix(own: str | None, path: str) -> None:
    host = Starlette(routes=[Mount("/api", app=Subject().server.asgi(path=own))])
    async with AsgiSocket(host, path=path) as client:
        assert await client.ask(PING) == PONG


async def test_single_route() -> None:
    host = Starlette(routes=[WebSocketRoute("/socket", endpoint=Subject().server.asgi(path=None))])
    async with AsgiSocket(host, path="/socket") as client:
        assert await client.ask(PING) == PONG


async def test_websocket_can_be_switched_off() -> None:
    assert (await refused(Subject().server.asgi(websocket="off"))).status == 404
    with pytest.raises(ValueError, match='websocket must be "on" or "off"'):
        Subject().server.asgi(websocket="maybe")  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("headers", "status", "setting"),
    [
        ({"host": "evil.example"}, 421, "allowed_hosts"),
        ({"host": "localhost.evil.example:3000"}, 421, "allowed_hosts"),
        ({"origin": "http://evil.example"}, 403, "allowed_origins"),
        ({"origin": "null"}, 403, "allowed_origins"),
        ({"origin": "http://localhost.evil.example"}, 403, "allowed_origins"),
    ],
)
async def test_other_hosts_and_origins_are_refused_as_on_http(
    headers: dict[str, str], status: int, setting: str
) -> None:
    """Any web page may open a WebSocket to localhost; only these headers reveal it."""
    client = await refused(Subject().server.asgi(), headers=headers)
    assert client.status == status
    assert setting in json.loads(client.body)["error"]["message"]


async def test_host_given_twice_is_refused() -> None:
    client = AsgiSocket(Subject().server.asgi())
    client.scope["headers"].append((b"host", b"evil.example"))
    with pytest.raises(Closed):
        await client.__aenter__()
    assert (client.status, "given twice" in client.body.decode()) == (400, True)


@pytest.mark.parametrize(
    ("options", "origin"),
    [
        ({}, "http://localhost:5173"),
        ({"allowed_origins": ["https://app.example"]}, "https://app.example"),
        ({"allowed_origins": ["*"]}, "https://any.example"),
    ],
)
async def test_allowed_origin_is_served(options: dict[str, Any], origin: str) -> None:
    async with AsgiSocket(Subject().server.asgi(**options), headers={"origin": origin}) as client:
        assert await client.ask(PING) == PONG


async def test_refusal_without_http_response_is_a_close() -> None:
    client = AsgiSocket(Subject().server.asgi(), path="/other", extensions={})
    with pytest.raises(Closed) as closed:
        await client.__aenter__()
    assert (closed.value.code, closed.value.reason) == (1008, "no WebSocket endpoint at /other")


@pytest.mark.parametrize(("offered", "chosen"), [(("mcp",), "mcp"), (("v9", "mcp"), "mcp"), ((), None)])
async def test_subprotocol_is_mcp_where_it_is_offered(offered: tuple[str, ...], chosen: str | None) -> None:
    async with AsgiSocket(Subject().server.asgi(), subprotocols=offered) as client:
        assert client.subprotocol == chosen
        assert await client.ask(PING) == PONG


async def test_client_that_offers_only_other_subprotocols_is_refused() -> None:
    client = await refused(Subject().server.asgi(), subprotocols=("graphql-ws",))
    assert client.status == 400
    assert "offer mcp" in json.loads(client.body)["error"]["message"]


async def test_client_that_disconnects_before_it_is_accepted_is_ignored() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.disconnect", "code": 1006}

    async def send(message: Any) -> None:
        sent.append(message)

    await Subject().server.asgi()({"type": "websocket", "path": "/mcp", "headers": []}, receive, send)
    assert sent == []


# Messages


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{not json}", -32700),
        ("", -32700),
        ("[" * 200 + "]" * 200, -32700),
        ("17", -32600),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        ("\ud800", -32700),
    ],
)
async def test_bad_message_is_refused_and_the_next_one_served(text: str, code: int) -> None:
    async with AsgiSocket(Subject().server.asgi()) as client:
        client.write(text)
        error = await client.receive()
        assert (error["error"]["code"], "id" in error) == (code, False)
        assert await client.ask(PING) == PONG


async def test_binary_frame_ends_the_connection() -> None:
    async with AsgiSocket(Subject().server.asgi()) as client:
        client.write_binary(json.dumps(PING).encode())
        assert (await client.closed()).code == 1003


@pytest.mark.parametrize("filling", ["x", "ü"])
async def test_message_over_the_limit_ends_the_connection(filling: str) -> None:
    app = Subject(limits=Limits(message_bytes=1000)).server.asgi()
    frame = '{"jsonrpc":"2.0","id":"ping","method":"ping","params":{"x":"%s"}}'
    room = (1000 - len(frame) + 2) // len(filling.encode())
    async with AsgiSocket(app) as client:
        client.write(frame % (filling * room))
        assert await client.receive() == PONG
        client.write(frame % (filling * (room + 1)))
        closed = await client.closed()
        assert (closed.code, closed.reason) == (1009, "message too big: limit 1000 bytes")


async def test_each_connection_has_its_own_session() -> None:
    app = Subject().server.asgi()
    async with AsgiSocket(app) as first, AsgiSocket(app) as other:
        await shake_hands(first)
        assert "result" in await first.ask(call("add", 1, a=1, b=1))
        assert (await other.ask(call("add", 1, a=1, b=1)))["error"]["code"] == -32602


async def test_handlers_see_principal_state_and_headers_of_the_connection() -> None:
    server = Server("seen")

    @server.tool
    async def look(ctx: Context) -> list[Any]:
        return [ctx.scope.principal, ctx.scope.headers["x-seen"], ctx.scope.transport]

    async with AsgiSocket(server.asgi(), principal="ada", headers={"x-seen": "yes"}) as client:
        await shake_hands(client)
        answer = await client.ask(call("look"))
        assert answer["result"]["structuredContent"]["result"] == ["ada", "yes", "websocket"]


async def test_what_is_sent_arrives_in_order() -> None:
    """Also messages outside of requests, while the client does not read."""
    subject = Subject()
    async with AsgiSocket(subject.server.asgi()) as client:
        await shake_hands(client)
        client.reads.clear()
        await client.send(call("say", 1, level="info", text="first"))
        await client.send(PING)
        subject.server.tools.remove("crash")
        await client.send(call("say", 2, level="info", text="second"))
        client.reads.set()
        messages = [await client.receive() for _ in range(6)]
        names = [each.get("method", each.get("id")) for each in messages]
        assert names[0] == "notifications/message"
        assert sorted(map(str, names)) == sorted(
            ["notifications/message"] * 2 + ["1", "2", "ping", "notifications/tools/list_changed"]
        )
        assert [name for name in names if name in (1, 2)] == [1, 2]


# Tasks


class Counting:
    """Counts created tasks."""

    def __init__(self) -> None:
        self.created = 0
        asyncio.get_running_loop().set_task_factory(self._make)

    def _make(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        self.created += 1
        return asyncio.Task(work, loop=loop, **options)


async def test_message_that_is_served_at_once_needs_no_task() -> None:
    async with AsgiSocket(Subject().server.asgi()) as client:
        await shake_hands(client)
        counting = Counting()
        for _ in range(10):
            assert "result" in await client.ask(call("say", level="debug", text="unheard"))
        assert counting.created == 0
        assert "result" in await client.ask(call("add", 1, a=1, b=1))  # in a thread
        assert counting.created == 1


CONTEXT: contextvars.ContextVar[str] = contextvars.ContextVar("CONTEXT", default="nothing")


async def test_each_message_has_its_own_context() -> None:
    server = Server("context")

    @server.tool
    async def mark(value: str, wait: bool) -> list[str]:
        before = CONTEXT.get()
        CONTEXT.set(value)
        if wait:
            gone = asyncio.Event()
            asyncio.get_running_loop().call_soon(gone.set)
            await gone.wait()
        return [before, CONTEXT.get()]

    async with AsgiSocket(server.asgi()) as client:
        await shake_hands(client)
        for number, wait in enumerate([False, True, False, True]):
            answer = await client.ask(call("mark", number, value=f"v{number}", wait=wait))
            assert answer["result"]["structuredContent"]["result"] == ["nothing", f"v{number}"]


async def test_handler_keeps_the_task_in_which_it_began() -> None:
    """`asyncio.timeout` cancels the task of its first step."""
    server = Server("tasks")

    @server.tool
    async def hurry(seconds: float) -> str:
        began_in = asyncio.current_task()
        try:
            async with asyncio.timeout(seconds):
                await asyncio.Event().wait()
        except TimeoutError:
            assert asyncio.current_task() is began_in
        return "given up"

    async with AsgiSocket(server.asgi()) as client:
        await shake_hands(client)
        await client.send(call("hurry", 1, seconds=0.02))
        await client.send(call("hurry", 2, seconds=0.01))
        assert await client.ask(PING) == PONG
        texts = [(await client.receive())["result"]["content"][0]["text"] for _ in "12"]
        assert texts == ["given up", "given up"]


async def test_no_more_is_read_while_too_much_is_in_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "CONCURRENT_MESSAGES", 3)
    subject = Subject()
    async with AsgiSocket(subject.server.asgi()) as client:
        await shake_hands(client)
        for number in range(3):
            await client.send(call("hold", number))
        await client.send(PING)
        await subject.started.wait()
        await settled()
        assert client.unread == 0
        subject.release.set()
        assert {(await client.receive())["id"] for _ in range(4)} == {0, 1, 2, "ping"}


async def settled() -> None:
    """Run the event loop until it is idle."""
    for _ in range(20):
        gone = asyncio.Event()
        asyncio.get_running_loop().call_soon(gone.set)
        await gone.wait()


# Closing


async def test_disconnect_cancels_running_requests() -> None:
    subject = Subject()
    app = subject.server.asgi()
    async with AsgiSocket(app) as client:
        await shake_hands(client)
        await client.send(call("hold"))
        await subject.started.wait()
        assert (len(app._websockets), len(subject.server.notifier)) == (1, 1)
    assert subject.cancelled.is_set()
    assert (len(app._websockets), len(subject.server.notifier)) == (0, 0)


async def test_disconnect_during_a_question_affects_no_other_client() -> None:
    subject = Subject()
    async with AsgiSocket(subject.server.asgi()) as client:
        await shake_hands(client, sampling={})
        await client.send(call("sample", prompt="?"))
        assert (await client.receive())["method"] == "sampling/createMessage"
    assert len(subject.server.notifier) == 0


async def test_stopping_server_waits_for_work_and_sends_a_reason() -> None:
    subject = Subject()
    app = subject.server.asgi()
    async with AsgiSocket(app) as client:
        await shake_hands(client)
        await client.send(call("hold", 1))
        await subject.started.wait()
        closing = asyncio.create_task(app.close())
        # Still served: the client may have to answer questions of running work.
        assert await client.ask(PING) == PONG
        subject.release.set()
        assert (await client.receive())["result"]["content"][0]["text"] == "released"
        closed = await client.closed()
        assert (closed.code, closed.reason) == (1001, "the server is stopping")
        await closing


async def test_stopping_server_cancels_stuck_work() -> None:
    subject = Subject(limits=Limits(drain=0.05))
    app = subject.server.asgi()
    async with AsgiSocket(app) as client:
        await shake_hands(client)
        await client.send(call("hold"))
        await subject.started.wait()
        async with asyncio.timeout(PATIENCE):
            await app.close()
        assert subject.cancelled.is_set()
        assert (await client.closed()).code == 1001


async def test_stopping_server_ends_listen_streams_with_a_result() -> None:
    """CAN-12, SUB-08."""
    app = Subject().server.asgi()
    async with AsgiSocket(app) as client:
        await client.send(describe("subscriptions/listen", {"notifications": {}}, 7))
        assert (await client.receive())["method"] == "notifications/subscriptions/acknowledged"
        await app.close()
        ended = await client.receive()
        assert (ended["method"], ended["params"]["requestId"]) == ("notifications/cancelled", 7)
        assert (await client.receive())["id"] == 7
        assert (await client.closed()).code == 1001


async def test_stopping_server_does_not_wait_for_a_disconnected_client() -> None:
    subject = Subject(limits=Limits(drain=1000.0))
    app = subject.server.asgi()
    async with AsgiSocket(app) as client:
        await shake_hands(client)
        await client.send(call("hold"))
        await subject.started.wait()
        closing = asyncio.create_task(app.close())
        await settled()
        client.leave()
        async with asyncio.timeout(PATIENCE):
            await closing
        assert subject.cancelled.is_set()


async def test_host_that_cancels_the_application_ends_the_session() -> None:
    subject = Subject()
    client = await AsgiSocket(subject.server.asgi()).__aenter__()
    await shake_hands(client)
    await client.send(call("hold"))
    await subject.started.wait()
    client.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await client.task
    await subject.cancelled.wait()
    assert len(subject.server.notifier) == 0


async def test_client_that_does_not_read_is_cut_off_when_too_much_waits() -> None:
    subject = Subject(limits=Limits(unread_bytes=10_000, write_timeout=1000.0))
    async with AsgiSocket(subject.server.asgi()) as client:
        await shake_hands(client)
        client.reads.clear()
        for number in range(40):
            await client.send(call("say", number, level="info", text="x" * 400))
        await client.send(call("hold"))
        async with asyncio.timeout(PATIENCE):
            while len(subject.server.notifier):
                await settled()
        client.reads.set()
        closed = await client.closed()
        assert (closed.code, "does not read" in closed.reason) == (1008, True)


async def test_client_that_does_not_read_for_too_long_is_cut_off() -> None:
    subject = Subject(limits=Limits(write_timeout=0.02))
    async with AsgiSocket(subject.server.asgi()) as client:
        await shake_hands(client)
        client.reads.clear()
        await client.send(PING)
        async with asyncio.timeout(PATIENCE):
            while len(subject.server.notifier):
                await settled()
        client.reads.set()
        assert (await client.closed()).code == 1008


async def test_unread_notifications_are_bounded() -> None:
    subject = Subject(limits=Limits(unread_bytes=1000))
    async with AsgiSocket(subject.server.asgi()) as client:
        await shake_hands(client)
        assert await client.ask(PING) == PONG
        client.reads.clear()
        for _ in range(20):
            subject.server.notifier.list_changed("tools")
            await settled()
        assert len(subject.server.notifier) == 0
        client.reads.set()
        assert (await client.closed()).code == 1008


async def test_internal_failure_is_logged_and_ends_the_connection(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Subject()

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("internal failure")

    monkeypatch.setattr(subject.server, "handle", fail)
    async with AsgiSocket(subject.server.asgi()) as client:
        with caplog.at_level(logging.ERROR, "assay"):
            await client.send(PING)
            closed = await client.closed()
        assert (closed.code, closed.reason) == (1011, "internal error")
    assert "internal failure" in caplog.text
