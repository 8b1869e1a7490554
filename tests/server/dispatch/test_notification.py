"""Notifications of an author's own: sent with `ctx.notify`, received with `@server.on_notification`."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from assay import Context, Depends, RegistrationError, Server
from assay.revisions.registry import HANDSHAKE
from assay.server.dispatch.notification import MOST_PENDING_OF_CLIENT
from tests.driving.asgi import AsgiPeer
from tests.driving.client import SESSIONED, TRANSPORTS, connect
from tests.driving.describing import describe
from tests.driving.messages import notification
from tests.server.scripted import ScriptedClient, call, finished, quiescence, reached

NEWEST = HANDSHAKE[-1]
ROOTS_CHANGED = "notifications/roots/list_changed"


@dataclass
class Order:
    article: str
    count: int = 1


class Received:
    """Notifications that handlers were called with."""

    def __init__(self) -> None:
        self.server = Server("test")
        self.values: list[Any] = []
        self._changed = asyncio.Event()

    def add(self, value: Any) -> None:
        self.values.append(value)
        self._changed.set()

    async def first(self, count: int = 1) -> list[Any]:
        while len(self.values) < count:
            self._changed.clear()
            await reached(self._changed)
        return self.values


# Received


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_handler_gets_typed_parameters_on_every_transport(transport: str) -> None:
    received = Received()

    @received.server.on_notification("orders/changed")
    async def changed(order: Order, urgent: bool = False) -> None:
        received.add((order, urgent))

    async with connect(received.server, transport, NEWEST) as client:
        await client.notify(
            "orders/changed", {"order": {"article": "hat"}, "urgent": True, "_meta": {"x": 1}}
        )
        assert await received.first() == [(Order("hat"), True)]


async def test_several_handlers_and_kinds_observe_one_notification() -> None:
    received, loop = Received(), asyncio.get_running_loop()

    @received.server.on_notification("orders/changed")
    def in_thread(number: int) -> None:
        is_other = threading.current_thread() is not threading.main_thread()
        loop.call_soon_threadsafe(received.add, is_other)

    async def provide(ctx: Context) -> str:
        return ctx.revision

    @received.server.on_notification("orders/changed")
    async def with_dependency(number: int, revision: Annotated[str, Depends(provide)]) -> None:
        received.add(revision)

    async with ScriptedClient(received.server) as client:
        await client.notify("orders/changed", number=3)
        assert set(await received.first(2)) == {True, NEWEST.date}


@pytest.mark.parametrize("transport", SESSIONED)
async def test_handler_may_ask_the_client(transport: str) -> None:
    received = Received()

    @received.server.on_notification(ROOTS_CHANGED)
    async def changed(ctx: Context) -> None:
        await ctx.log("info", "reading roots")
        received.add([root.uri for root in await ctx.roots()])

    capabilities = {"roots": {"listChanged": True}}
    async with connect(received.server, transport, NEWEST, capabilities=capabilities, listen=True) as client:
        await client.notify(ROOTS_CHANGED)
        question = await client.received("roots/list")
        await client.respond(question, result={"roots": [{"uri": "file:///home"}]})
        assert await received.first() == [["file:///home"]]
        assert len(client.of("notifications/message")) == 1


async def test_http_client_does_not_wait_for_the_handler() -> None:
    server, release, ended = Server("test"), asyncio.Event(), asyncio.Event()

    @server.on_notification("orders/changed")
    async def changed() -> None:
        await release.wait()
        ended.set()

    async with AsgiPeer(server.asgi()) as peer:
        assert (await peer.post(notification("orders/changed"))).status == 202
        assert not ended.is_set()
        release.set()
        await reached(ended)


async def test_built_in_handling_stays() -> None:
    received = Received()
    begun = asyncio.Event()

    @received.server.tool
    async def hold() -> None:
        begun.set()
        await asyncio.Event().wait()

    @received.server.on_notification("notifications/cancelled")
    async def cancelled(requestId: int, reason: str = "") -> None:
        received.add((requestId, reason))

    @received.server.on_notification("notifications/initialized")
    async def initialized() -> None:
        received.add("initialized")

    async with ScriptedClient(received.server) as client:
        assert await received.first() == ["initialized"]
        assert client.session.ready
        holding = client.start_call("hold")
        await reached(begun)
        await client.cancel(2, "enough")
        assert await finished(holding) is None
        assert (await received.first(2))[1] == (2, "enough")


async def test_unknown_notification_is_ignored() -> None:
    received = Received()
    received.server.on_notification("orders/changed")(received.add)
    async with ScriptedClient(received.server) as client:
        await client.notify("orders/deleted", value=1)
        await quiescence()
    assert received.values == []


async def test_client_that_has_not_introduced_itself_is_not_observed() -> None:
    received = Received()

    @received.server.on_notification("orders/changed")
    async def changed() -> None:
        received.add("called")

    client = ScriptedClient(received.server)
    await client.notify("orders/changed")
    await quiescence()
    assert received.values == []
    client.server.close_session(client.session)


async def test_notification_that_a_revision_has_removed_is_ignored() -> None:
    received = Received()
    for method in (ROOTS_CHANGED, "orders/changed"):

        @received.server.on_notification(method)
        async def changed(ctx: Context) -> None:
            received.add(ctx.revision)

    for method in (ROOTS_CHANGED, "orders/changed"):
        message = describe(method)
        del message["id"]
        assert await received.server.handle(message) is None
    assert await received.first() == ["2026-07-28"]
    await quiescence()
    assert len(received.values) == 1


@pytest.mark.parametrize("error", [ValueError("no luck"), SystemExit(3), KeyboardInterrupt()])
async def test_failure_is_logged_and_never_answered(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    received = Received()

    @received.server.on_notification("orders/changed")
    async def fails() -> None:
        received.add("called")
        raise error

    async with ScriptedClient(received.server) as client:
        await client.notify("orders/changed")
        await received.first()
        await quiescence()
        assert await client.result("ping") == {}
        assert client.received_so_far() == []
    assert "notification orders/changed: fails failed" in caplog.text


async def test_invalid_parameters_are_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    received = Received()

    @received.server.on_notification("orders/changed")
    async def changed(number: int) -> None:
        received.add(number)

    async with ScriptedClient(received.server) as client:
        await client.notify("orders/changed", number="three")
        await client.notify("orders/changed", number=4)
        assert await received.first() == [4]
    assert "notification orders/changed: changed did not run to its end" in caplog.text


async def test_handlers_in_progress_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    received, release = Received(), asyncio.Event()

    @received.server.on_notification("orders/changed")
    async def changed(number: int) -> None:
        await release.wait()
        received.add(number)

    async with ScriptedClient(received.server) as client:
        for number in range(MOST_PENDING_OF_CLIENT + 10):
            await client.notify("orders/changed", number=number)
        release.set()
        await received.first(MOST_PENDING_OF_CLIENT)
        await quiescence()
        assert len(received.values) == MOST_PENDING_OF_CLIENT
        await client.notify("orders/changed", number=-1)
        assert (await received.first(MOST_PENDING_OF_CLIENT + 1))[-1] == -1
    assert caplog.text.count("is not called while too many notifications are handled") == 1


async def test_end_of_the_session_ends_its_handlers() -> None:
    server, begun, ended = Server("test"), asyncio.Event(), asyncio.Event()

    @server.on_notification("orders/changed")
    async def changed() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with ScriptedClient(server) as client:
        await client.notify("orders/changed")
        await reached(begun)
    await reached(ended)


async def test_notification_has_no_id(caplog: pytest.LogCaptureFixture) -> None:
    received = Received()

    @received.server.on_notification("orders/changed")
    async def changed(ctx: Context) -> None:
        received.add("called")
        assert ctx.request_id

    async with ScriptedClient(received.server) as client:
        await client.notify("orders/changed")
        await received.first()
        await quiescence()
    assert "RuntimeError: a notification has no id" in caplog.text


def no_function(method: Any) -> None:
    Server("test").on_notification(method)(lambda: None)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("tools/call", "tools/call is not a notification: choose another name"),
        ("rpc.changed", "rpc.changed is not a notification"),
        ("", "invalid name of a notification: ''; expected one such as `orders/changed`"),
        ("two words", "invalid name of a notification: 'two words'"),
        (no_function, "on_notification needs a method"),
    ],
)
def test_invalid_name_is_refused(method: Any, message: str) -> None:
    with pytest.raises(RegistrationError, match=message):
        no_function(method)


# Sent


def sending_server(method: Any, params: Any) -> Server:
    server = Server("test")

    @server.tool
    async def send(ctx: Context) -> str:
        await ctx.notify(method, params)
        return "sent"

    return server


@pytest.mark.parametrize("params", [{"article": "hat", "count": 1}, Order("hat")])
async def test_notification_is_sent_with_its_parameters(params: Any) -> None:
    async with ScriptedClient(sending_server("orders/changed", params)) as client:
        assert await client.text_of("send") == "sent"
        assert await client.receive() == {
            "jsonrpc": "2.0",
            "method": "orders/changed",
            "params": {"article": "hat", "count": 1},
        }


async def test_parameters_are_optional() -> None:
    async with ScriptedClient(sending_server("orders/changed", None)) as client:
        await client.call("send")
        assert (await client.receive())["params"] == {}


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("orders changed", {}, "invalid name of a notification: 'orders changed'"),
        ("tools/call", {}, "tools/call is not a notification"),
        (3, {}, "invalid name of a notification: 3"),
        ("x", [1], "parameters of x must be an object such as a dict or dataclass, not list"),
        ("x", "text", "parameters of x must be an object such as a dict or dataclass, not str"),
        ("x", {"y": object()}, "parameters of x cannot be written as JSON"),
    ],
)
async def test_invalid_notification_is_refused(
    method: Any, params: Any, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await call(sending_server(method, params), "send"))["isError"]
    assert message in caplog.text


async def test_notification_after_the_end_is_discarded() -> None:
    server, contexts = Server("test"), []

    @server.tool
    async def keep(ctx: Context) -> None:
        contexts.append(ctx)

    async with ScriptedClient(server) as client:
        await client.call("keep")
        await contexts[0].notify("orders/changed")
        assert client.received_so_far() == []
