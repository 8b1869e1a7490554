"""New connections: a client that opens many waits for its share of the time, if others are served."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import weakref
from collections.abc import Callable, Coroutine, Iterator
from math import inf
from typing import Any

import pytest
import uvloop

from assay import Limits, Server
from assay.protocol import time_share
from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.protocol.http.client_address import read_networks
from assay.transport.http1 import turn_queue
from assay.transport.http1.connection import HttpConnection
from assay.transport.http1.new_connection import CONNECTION_SECONDS, DelayedConnection
from assay.transport.http1.server_state import SWEEP_INTERVAL, ServerState
from assay.transport.http1.tls_listener import TlsHandshake
from tests.driving.answer import PATIENCE
from tests.driving.raw_socket import UPGRADE
from tests.transport.http1.memory_client import (
    ClosableApp,
    MemoryClient,
    Wire,
    echo,
    get,
    part,
    post,
    read_answers,
    settle,
    start,
)

Run = Callable[[Coroutine[Any, Any, tuple[bool, bytes]]], tuple[bool, bytes]]
HOSTILE = "10.0.0.66"
CLIENT = ("address", "127.0.0.1")
HOSTILE_CLIENT = ("address", HOSTILE)


@pytest.fixture(autouse=True)
def no_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_share, "BURST", 0.0)


class Scene(MemoryClient):
    """A server with an ordinary client, and the connections of a hostile one. The clocks are the test's."""

    def __init__(self, app: Any = echo, **limits: Any) -> None:
        super().__init__(app, **limits)
        self.server.time_shares.now = lambda: self.time

    def intrude(self, data: bytes = b"", *, peer: str = HOSTILE) -> Wire:
        """Connect, and send."""
        wire, _ = self.connect(peer=peer)
        wire.deliver(data)
        return wire

    async def with_company(self) -> Scene:
        """The ordinary client has been served, and the hostile one has used its share."""
        await self.send(post(b"ordinary"))
        await self.pass_time(SWEEP_INTERVAL)
        self.server.time_shares.charge(HOSTILE_CLIENT, 1.0)
        return self

    async def take_turn(self) -> None:
        """Advance the clock until the next may continue."""
        self.time += 10.0
        self.server.turns._take_next(HOSTILE_CLIENT)
        await settle()


def is_delayed(wire: Wire) -> bool:
    return isinstance(wire.protocol, DelayedConnection)


async def test_client_that_is_alone_opens_as_many_as_it_likes() -> None:
    scene = Scene(connections=5000)
    scene.wire.hang_up()
    for _ in range(2):
        await scene.pass_time(SWEEP_INTERVAL)
    wires = [scene.intrude() for _ in range(1000)]
    assert not any(map(is_delayed, wires))
    assert len(scene.server.time_shares) == 0


async def test_connections_beyond_the_share_wait_while_others_are_served() -> None:
    scene = Scene()
    await scene.send(post(b"ordinary"))
    await scene.pass_time(SWEEP_INTERVAL)
    first, second = scene.intrude(post(b"1")), scene.intrude(post(b"2"))
    await settle()
    assert first.written.endswith(b"1")
    assert is_delayed(second)
    assert (second.written, second.reading) == (b"", False)
    assert scene.server.time_shares.wait_for(HOSTILE_CLIENT) == pytest.approx(7 * CONNECTION_SECONDS)


async def test_delayed_connection_is_served_in_its_turn() -> None:
    scene = await Scene().with_company()
    wire = scene.intrude(post(b"1"))
    await settle()
    assert wire.written == b""
    await scene.take_turn()
    assert wire.written.endswith(b"1")
    wire.deliver(post(b"2"))
    await settle()
    assert wire.written.endswith(b"2")


async def test_input_that_arrives_after_the_turn_is_served() -> None:
    scene = await Scene().with_company()
    wire = scene.intrude()
    await scene.take_turn()
    wire.deliver(post(b"1"))
    await settle()
    assert wire.written.endswith(b"1")


async def test_other_clients_connect_at_once() -> None:
    scene = await Scene().with_company()
    scene.intrude()
    newcomer = scene.intrude(post(b"1"), peer="10.0.0.7")
    await settle()
    assert newcomer.written.endswith(b"1")


async def test_too_many_delayed_connections_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_queue, "MOST_WAITING", 2)
    scene = await Scene().with_company()
    assert [scene.intrude().ended for _ in range(3)] == ["", "", "abort"]


async def test_share_of_one_disables_the_wait() -> None:
    scene = await Scene(body_share=1).with_company()
    assert not is_delayed(scene.intrude())


async def test_clients_whose_connections_are_closed_again_count_as_company() -> None:
    scene = Scene()
    await scene.pass_time(10 * SWEEP_INTERVAL)
    for _ in range(2):
        scene.intrude(peer="10.0.0.7").hang_up()
        scene.intrude(peer=HOSTILE).hang_up()
    await settle()
    assert is_delayed(scene.intrude())


async def stream(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    await send(start())
    await send(part(b"begun", more=True))
    await receive()
    await receive()


async def test_idle_clients_are_no_company() -> None:
    scene = Scene(stream)
    await scene.send(get())  # a stream that stays open
    await scene.pass_time(SWEEP_INTERVAL)
    await scene.pass_time(SWEEP_INTERVAL)
    scene.server.time_shares.charge(HOSTILE_CLIENT, 1.0)
    scene.intrude()
    await scene.pass_time(SWEEP_INTERVAL)
    assert not is_delayed(scene.intrude())


async def test_client_that_closes_while_it_waits_is_forgotten() -> None:
    scene = await Scene().with_company()
    wire, later = scene.intrude(), scene.intrude(post(b"later"))
    wire.half_close()
    await settle()
    assert wire.ended == "close"
    await scene.take_turn()
    assert later.written.endswith(b"later")


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
async def test_delayed_connection_is_freed_when_it_ends() -> None:
    scene = await Scene().with_company()
    wire = scene.intrude(post(b"1"))
    alive = weakref.ref(wire.protocol)
    wire.hang_up()
    await settle()
    del wire.protocol  # as the transport of an event loop does
    assert alive() is None


async def test_stopping_server_closes_what_waits() -> None:
    scene = await Scene().with_company()
    wire = scene.intrude()
    await scene.leave()
    assert wire.lost


class Company:
    """A connection whose client is served all the time."""

    deadline = inf

    def active_client(self, since: float) -> str:
        return "another client"

    def expire(self) -> None: ...

    wind_down = finish = abort = expire


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_delayed_connection_is_served_on_every_event_loop(run: Run) -> None:
    async def main() -> tuple[bool, bytes]:
        server, company = ServerState(ClosableApp(echo), Limits()), Company()
        server.admit(company)
        server.time_shares.charge(CLIENT, 0.01)
        listening = await server.loop.create_server(lambda: HttpConnection(server), "127.0.0.1", 0)
        try:
            async with asyncio.timeout(PATIENCE):
                port = listening.sockets[0].getsockname()[1]
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(post(b"1") + get(b"/", b"connection: close"))
                answers = await reader.read()
                return server.time_shares.wait_for(CLIENT) == 0, answers
        finally:
            writer.close()
            listening.close()
            server.remove(company)
            await server.close(1.0)

    waited, answers = run(main())
    assert waited
    assert len(read_answers(answers, ["POST", "GET"], ended=True)) == 2


# WebSockets


async def opened() -> tuple[Scene, Wire]:
    """A hostile client with a connection, and then without time for a WebSocket on it."""
    scene = Scene(Server("test").asgi())
    wire = scene.intrude()
    await scene.with_company()
    return scene, wire


async def test_upgrade_beyond_the_share_waits() -> None:
    scene, wire = await opened()
    wire.deliver(UPGRADE)
    await settle()
    assert wire.written == b""
    await scene.take_turn()
    assert b" 101 " in wire.written


async def test_too_many_upgrades_are_refused_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_queue, "MOST_WAITING", 0)
    _, wire = await opened()
    wire.deliver(UPGRADE)
    await settle()
    assert wire.written.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1\r\n" in wire.written


async def test_websocket_that_ends_while_it_waits_is_not_begun() -> None:
    scene, wire = await opened()
    wire.deliver(UPGRADE)
    wire.hang_up()
    await settle()
    await scene.take_turn()
    assert wire.written == b""
    await scene.leave()


def forwarded(client: bytes) -> bytes:
    return UPGRADE.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: " + client + b"\r\n\r\n")


async def test_upgrades_behind_a_proxy_count_for_the_forwarded_address() -> None:
    scene = Scene(Server("test").asgi())
    scene.server._trusted_proxies = read_networks(["10.0.0.200"])
    await scene.with_company()
    hostile = scene.intrude(forwarded(HOSTILE.encode()), peer="10.0.0.200")
    other = scene.intrude(forwarded(b"10.0.0.7"), peer="10.0.0.200")
    await settle()
    assert (hostile.written, b" 101 " in other.written) == (b"", True)


# TLS


async def accept_tls(scene: Scene) -> tuple[TlsHandshake, socket.socket]:
    client, accepted = socket.socketpair()
    accepted.setblocking(False)
    handshake = TlsHandshake(scene.server, accepted, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    handshake.begin(HOSTILE)
    client.setblocking(False)
    return handshake, client


async def test_handshake_beyond_the_share_waits() -> None:
    scene = await Scene().with_company()
    handshake, client = await accept_tls(scene)
    assert handshake._task is None
    await scene.take_turn()
    assert handshake._task is not None
    handshake.abort()
    await asyncio.wait([handshake._task])
    client.close()


async def test_handshake_that_waits_ends_with_the_server() -> None:
    scene = await Scene().with_company()
    handshake, client = await accept_tls(scene)
    await scene.leave()
    assert client.recv(1) == b""
    client.close()
    handshake.take_turn()
    assert handshake._task is None


async def test_too_many_handshakes_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_queue, "MOST_WAITING", 0)
    scene = await Scene().with_company()
    _, client = await accept_tls(scene)
    assert client.recv(1) == b""
    client.close()
