"""Limits of sessions over HTTP: number and bytes, shared between clients by principal or address."""

from __future__ import annotations

import tracemalloc
from contextlib import AsyncExitStack
from typing import Any

import pytest

from assay import Context, Limits
from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call, initialize, request
from tests.transport.subject import WATCHED, Subject

NEWEST = HANDSHAKE[-1]
PING = request("ping")
SESSIONS = 20
FLOOD = 200
PROXY = "10.0.0.1"


def at(address: str) -> dict[str, Any]:
    return {"client": (address, 50000)}


def huge_initialize(size: int) -> dict[str, Any]:
    message = initialize(NEWEST, {"experimental": {"huge": {"text": "x" * size}}})
    message["params"]["clientInfo"]["title"] = "x" * size
    return message


async def flood(app: Any, number: int = FLOOD, **client: Any) -> list[int]:
    """Open sessions and use none of them; the statuses."""
    headers = client.pop("headers", None)
    statuses = []
    for _ in range(number):
        async with AsgiPeer(app, **client) as peer:
            statuses.append((await peer.post(initialize(NEWEST), headers=headers)).status)
    return statuses


async def test_little_is_kept_of_large_initialize_requests() -> None:
    """The body and all that was decoded from it is freed with the request."""
    server = Subject().server
    app = server.asgi()
    size, number = 1024 * 1024, 20
    await flood(app, 5)
    tracemalloc.start()
    try:
        for _ in range(number):
            async with AsgiPeer(app) as client:
                assert (await client.post(huge_initialize(size))).status == 200
        remaining, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert remaining < size
    assert server.session_budget.used <= number * Limits().client_bytes + 5 * 200


async def test_what_the_server_uses_of_a_large_initialize_is_kept() -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        message = huge_initialize(5000)
        message["params"]["capabilities"]["roots"] = {"listChanged": True}
        client.session = (await client.post(message)).headers["mcp-session-id"]
        await client.call("keep")
        assert subject.last_context is not None and subject.last_context.client is not None
        declared = subject.last_context.client_capabilities
        assert (declared.roots, declared.experimental) == ({"listChanged": True}, None)
        assert (subject.last_context.client.name, subject.last_context.client.title) == ("tests", None)


@pytest.mark.parametrize(
    ("attacker", "other"),
    [
        (at("192.0.2.1"), at("192.0.2.2")),
        ({"principal": "eve"}, {"principal": "ada"}),
        (at("2001:db8::1"), at("2001:db8:0:1::1")),
        ({"principal": "eve"}, {}),
    ],
    ids=["addresses", "principals", "networks", "principal and address"],
)
async def test_flood_ends_no_session_of_another_client(
    attacker: dict[str, Any], other: dict[str, Any]
) -> None:
    subject = Subject(limits=Limits(sessions=SESSIONS))
    app = subject.server.asgi()
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(await AsgiPeer(app, **other).shake_hands(NEWEST))
            for _ in range(3)
        ]
        held = clients[0].begin("POST", call("hold", "held"))
        listening = await clients[1].begin("GET").started()
        await subject.started.wait()
        assert set(await flood(app, **attacker)) == {200}
        assert [(await client.post(PING)).status for client in clients] == [200, 200, 200]
        subject.release.set()
        (answer,) = await held.messages()
        assert answer["result"]["content"][0]["text"] == "released"
        assert not listening.task.done()
        assert len(subject.server.notifier) <= SESSIONS
        assert await flood(app, 1, **at("198.51.100.1")) == [200]


async def test_lone_client_may_use_everything() -> None:
    subject = Subject(limits=Limits(sessions=SESSIONS))
    assert set(await flood(subject.server.asgi(), SESSIONS)) == {200}
    assert len(subject.server.notifier) == SESSIONS


async def test_client_whose_sessions_are_all_in_use_is_refused_with_503() -> None:
    subject = Subject(limits=Limits(sessions=2))
    app = subject.server.asgi()
    async with await AsgiPeer(app).shake_hands(NEWEST) as first, AsgiPeer(app) as third:
        async with await AsgiPeer(app).shake_hands(NEWEST) as second:
            for client in (first, second):
                await client.begin("GET").started()
            refused = await third.post(initialize(NEWEST))
            assert (refused.status, refused.headers["retry-after"]) == (503, "10")
            assert "mcp-session-id" not in refused.headers
            assert (refused.json["id"], refused.json["error"]["code"]) == ("initialize", -31004)
            assert "too many sessions" in refused.json["error"]["message"]
            assert len(subject.server.notifier) == 2
        assert (await third.post(initialize(NEWEST))).status == 200


@pytest.mark.parametrize(
    ("trusted", "address", "is_counted_apart"),
    [((), "192.0.2.1", False), ((PROXY,), PROXY, True), ((PROXY,), "192.0.2.1", False)],
    ids=["no proxy is trusted", "trusted proxy", "another address than the proxy's"],
)
@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded"])
async def test_forwarded_address_counts_only_behind_a_trusted_proxy(
    trusted: tuple[str, ...], address: str, is_counted_apart: bool, header: str
) -> None:
    """Otherwise a client could be as many clients as it likes."""
    app = Subject(limits=Limits(sessions=SESSIONS)).server.asgi(trusted_proxies=trusted)

    def forwarded(client: str) -> dict[str, Any]:
        return {"headers": {header: f"for={client}" if header == "forwarded" else client}, **at(address)}

    first = forwarded("203.0.113.1")
    async with AsgiPeer(app, **at(address)) as client:
        answer = await client.post(initialize(NEWEST), headers=first["headers"])
        client.session = answer.headers["mcp-session-id"]
        await flood(app, **forwarded("203.0.113.2"))
        assert (await client.post(PING)).status == (200 if is_counted_apart else 404)


async def test_growing_session_takes_room_from_idle_ones_of_larger_clients() -> None:
    subject = Subject(limits=Limits(session_bytes=4000, kept_bytes=4000))

    @subject.server.tool
    async def store(ctx: Context, size: int) -> str:
        ctx.session["data"] = "x" * size
        return "stored"

    app = subject.server.asgi()
    async with (
        await AsgiPeer(app, **at("192.0.2.1")).shake_hands(NEWEST) as large,
        await AsgiPeer(app, **at("192.0.2.2")).shake_hands(NEWEST) as small,
    ):
        assert (await large.call("store", size=3000)).json["result"]["isError"] is False
        assert (await small.call("store", size=1000)).json["result"]["isError"] is False
        assert (await large.post(PING)).status == 404
        assert (await small.call("store", size=3900)).json["result"]["isError"] is True
        assert subject.server.session_budget.used < 4000


async def test_thread_that_stores_more_finds_room_when_it_tries_again() -> None:
    subject = Subject(limits=Limits(session_bytes=4000, kept_bytes=4000))

    @subject.server.tool
    def store(ctx: Context, size: int) -> str:
        ctx.session["data"] = "x" * size
        return "stored"

    app = subject.server.asgi()
    async with (
        await AsgiPeer(app, **at("192.0.2.1")).shake_hands(NEWEST) as large,
        await AsgiPeer(app, **at("192.0.2.2")).shake_hands(NEWEST) as small,
    ):
        assert (await large.call("store", size=3000)).json["result"]["isError"] is False
        # The first attempt fails, unless the event loop makes room before the thread has looked.
        attempts = [(await small.call("store", size=1000)).json["result"] for _ in range(2)]
        assert attempts[-1]["isError"] is False
        assert (await large.post(PING)).status == 404


async def test_subscriptions_of_all_sessions_are_bounded_in_bytes() -> None:
    server = Subject(limits=Limits(session_bytes=500)).server
    async with await AsgiPeer(server.asgi()).shake_hands(NEWEST) as client:
        uris = [f"notes://{number:050}" for number in range(9)]
        answers = [(await client.post(request("resources/subscribe", {"uri": uri}))).json for uri in uris]
        refused = ["error" in answer for answer in answers]
        assert refused == sorted(refused) and set(refused) == {False, True}
        assert answers[-1]["error"]["code"] == -31004
        assert server.session_budget.used <= 500
        assert (await client.post(request("resources/unsubscribe", {"uri": uris[0]}))).status == 200
        answer = await client.post(request("resources/subscribe", {"uri": WATCHED}))
        assert answer.json["result"] == {}


async def test_open_streams_beyond_the_limit_cannot_be_resumed() -> None:
    subject = Subject()

    @subject.server.tool
    async def speak_and_hold(ctx: Context) -> str:
        await ctx.log("error", "begun")
        return await subject.hold(ctx)

    async with await AsgiPeer(subject.server.asgi()).shake_hands(NEWEST) as client:
        answers = [client.begin("POST", call("speak_and_hold", number)) for number in range(66)]
        for answer in answers:
            assert (await answer.message())["method"] == "notifications/message"
        assert sum(bool(answer.sse.last_event_id) for answer in answers) == 64
        subject.release.set()
        for answer in answers:
            assert (await answer.message())["result"]["content"][0]["text"] == "released"
