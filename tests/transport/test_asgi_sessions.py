"""Sessions over HTTP: opening, ownership and ending."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay import Limits
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from assay.store.memory import MemoryEvents, MemorySessions
from assay.transport.asgi.build import build
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call, initialize, request
from tests.transport.subject import WATCHED, Subject

NEWEST = HANDSHAKE[-1]
PING = request("ping")


class ManualClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def built(subject: Subject, store: MemorySessions, **options: Any) -> Any:
    return build(subject.server, **{"session_store": store, "event_store": MemoryEvents(), **options})


async def opened(app: Any, revision: Revision = NEWEST, **options: Any) -> AsgiPeer:
    return await AsgiPeer(app, **options).shake_hands(revision)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_initialize_creates_an_id_of_visible_ascii(revision: Revision) -> None:
    """HTTP-36, HTTP-37."""
    app = Subject().server.asgi()
    sessions = set()
    for _ in range(3):
        async with await opened(app, revision) as client:
            assert client.session is not None
            assert len(client.session) >= 22
            assert all(0x21 <= ord(letter) <= 0x7E for letter in client.session)
            sessions.add(client.session)
    assert len(sessions) == 3


async def test_failed_initialize_opens_no_session() -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        answer = await client.post(request("initialize", {"protocolVersion": 5}))
        assert answer.json["error"]["code"] == -32602
        assert "mcp-session-id" not in answer.headers
        assert len(subject.server.notifier) == 0


async def test_session_keeps_its_revision_under_another_known_version_header() -> None:
    """HTTP-47: only an unsupported value is refused (basic/transports#protocol-version-header)."""
    async with await opened(Subject().server.asgi()) as client:
        client.version = HANDSHAKE[0].date
        assert (await client.call("add", a="x", b=1)).json["result"]["isError"] is True
        client.version = None
        assert (await client.call("add", a="x", b=1)).json["result"]["isError"] is True
        client.version = "1999-01-01"
        assert (await client.call("add", a=1, b=1)).status == 400


async def test_optional_sessions_serve_requests_without_one() -> None:
    async with AsgiPeer(Subject().server.asgi(sessions="optional")) as client:
        client.version = NEWEST.date
        answer = await client.call("add", a=1, b=2)
        assert answer.json["result"]["structuredContent"] == {"result": 3}
        assert "mcp-session-id" not in answer.headers


async def test_required_session_is_requested_with_400() -> None:
    """HTTP-40."""
    async with AsgiPeer(Subject().server.asgi(sessions="required")) as client:
        for answer in (await client.post(PING), await client.send("GET"), await client.send("DELETE")):
            assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
        await client.shake_hands(NEWEST)
        assert (await client.post(PING)).status == 200


async def test_sessions_off_opens_none_and_ignores_ids() -> None:
    async with AsgiPeer(Subject().server.asgi(sessions="off")) as client:
        assert "mcp-session-id" not in (await client.post(initialize(NEWEST))).headers
        client.session = "whatever"
        assert (await client.post(PING)).status == 200
        for method in ("GET", "DELETE"):
            assert (await client.send(method)).status == 405


async def test_features_that_need_a_session_report_it() -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        for message in (
            request("resources/subscribe", {"uri": WATCHED}),
            request("logging/setLevel", {"level": "debug"}),
        ):
            assert "no session" in (await client.post(message)).json["error"]["message"]
        client.version = NEWEST.date
        result = await client.call("roots")
        assert result.json["result"]["isError"] is True


@pytest.mark.parametrize("session", ["unknown", "", "ünknown", "a" * 5000])
async def test_unknown_session_gets_404(session: str) -> None:
    """HTTP-41: a 404 makes clients initialize again (basic/transports#session-management)."""
    async with AsgiPeer(Subject().server.asgi()) as client:
        client.session = session
        for answer in (await client.post(PING), await client.send("GET"), await client.send("DELETE")):
            assert answer.status == 404
        assert (await client.post(initialize(NEWEST))).status == 404


async def test_deleted_session_is_gone() -> None:
    """HTTP-41. Its requests end with an error and its streams end; other sessions are not affected."""
    subject = Subject()
    app = subject.server.asgi()
    async with await opened(app) as client, await opened(app) as other:
        listening = await client.begin("GET").started()
        held = client.begin("POST", call("hold"))
        await subject.started.wait()
        assert (await client.send("DELETE")).status == 204
        async with asyncio.timeout(5):
            await subject.cancelled.wait()
        (answer,) = await held.messages()
        assert answer["error"]["code"] == -32603
        assert await listening.messages() == []
        for answer in (await client.post(PING), await client.send("GET"), await client.send("DELETE")):
            assert answer.status == 404
        assert (await other.post(PING)).status == 200
        assert len(subject.server.notifier) == 1


async def test_session_belongs_to_its_principal() -> None:
    app = Subject().server.asgi()
    async with await opened(app, principal="ada") as ada:
        for principal in ("eve", None):
            async with AsgiPeer(app, principal=principal) as stranger:
                stranger.session, stranger.version = ada.session, ada.version
                for answer in (
                    await stranger.post(PING),
                    await stranger.send("GET"),
                    await stranger.send("GET", headers={"last-event-id": "0-0"}),
                    await stranger.send("DELETE"),
                ):
                    assert answer.status == 404
        assert (await ada.post(PING)).status == 200


async def test_handlers_see_the_principal_of_the_request() -> None:
    subject = Subject()
    async with await opened(subject.server.asgi(), principal="ada") as client:
        await client.call("keep")
        assert subject.last_context is not None
        scope = subject.last_context.scope
        assert (scope.principal, scope.transport) == ("ada", "http")
        assert scope.headers["host"] == "localhost:3000"


async def test_unused_session_expires() -> None:
    clock = ManualClock()
    subject = Subject()
    store = MemorySessions(idle_timeout=60, clock=clock)
    app = built(subject, store)
    async with await opened(app) as client:
        clock.now += 59
        assert (await client.post(PING)).status == 200
        clock.now += 59
        assert (await client.post(PING)).status == 200
        listening = await client.begin("GET").started()
        clock.now += 61
        assert (await client.post(PING)).status == 404
        assert await listening.messages() == []
        assert len(subject.server.notifier) == 0


async def test_another_principal_does_not_keep_a_session_alive() -> None:
    clock = ManualClock()
    app = built(Subject(), MemorySessions(idle_timeout=60, clock=clock))
    async with await opened(app, principal="ada") as ada, AsgiPeer(app, principal="eve") as eve:
        eve.session, eve.version = ada.session, ada.version
        clock.now += 59
        for answer in (await eve.post(PING), await eve.send("GET"), await eve.send("DELETE")):
            assert answer.status == 404
        clock.now += 2
        assert (await ada.post(PING)).status == 404


async def test_sweep_ends_expired_sessions() -> None:
    clock = ManualClock()
    app = built(Subject(), MemorySessions(idle_timeout=60, clock=clock), sweep_interval=0.001)
    async with await opened(app) as client:
        listening = await client.begin("GET").started()
        clock.now += 61
        assert await listening.messages() == []
    await app.close()


async def test_number_of_sessions_is_bounded() -> None:
    subject = Subject(limits=Limits(sessions=2))
    store = MemorySessions()
    app = built(subject, store)
    async with await opened(app) as first, await opened(app) as second:
        assert (await first.post(PING)).status == 200  # used last, so the other one is evicted
        async with await opened(app) as third:
            statuses = [(await each.post(PING)).status for each in (first, second, third)]
            assert statuses == [200, 404, 200]
            assert (len(store), len(subject.server.notifier)) == (2, 2)


async def test_empty_store_is_used_if_given() -> None:
    store = MemorySessions()
    async with await opened(Subject().server.asgi(session_store=store)):
        assert len(store) == 1


async def test_session_is_restored_from_a_shared_store() -> None:
    """Another worker, or the same after a restart, restores revision, level and subscriptions."""
    subject = Subject()
    store = MemorySessions()
    async with await opened(built(subject, store)) as client:
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        await client.post(request("logging/setLevel", {"level": "error"}))
        other = Subject()
        client.app = built(other, store)
        quiet = await client.call("say", level="info", text="unheard")
        assert not quiet.is_stream
        assert (await client.call("add", a="x", b=1)).json["result"]["isError"] is True
        listening = await client.begin("GET").started()
        other.server.resource_updated(WATCHED)
        assert (await listening.message())["params"] == {"uri": WATCHED}
        assert (await client.post(initialize(NEWEST))).json["error"]["code"] == -32600


async def test_lifespan_ends_all_sessions() -> None:
    app = Subject().server.asgi()
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    outgoing: asyncio.Queue[Any] = asyncio.Queue()
    running = asyncio.create_task(app({"type": "lifespan"}, incoming.get, outgoing.put))
    incoming.put_nowait({"type": "lifespan.startup"})
    assert await outgoing.get() == {"type": "lifespan.startup.complete"}
    async with await opened(app) as client:
        listening = await client.begin("GET").started()
        incoming.put_nowait({"type": "lifespan.shutdown"})
        assert await outgoing.get() == {"type": "lifespan.shutdown.complete"}
        assert await listening.messages() == []
        await running
