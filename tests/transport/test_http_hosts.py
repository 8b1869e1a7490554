"""A public HTTP client and our application, on our own server and on others, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay import Limits
from assay.revisions.registry import HANDSHAKE
from tests.driving.answer import PATIENCE
from tests.driving.describing import describe, mirrors
from tests.driving.hosts import HOSTS
from tests.driving.messages import call, initialize, notification
from tests.driving.sockets import SocketPeer
from tests.transport.subject import Subject

EVERYWHERE = pytest.mark.parametrize("host", HOSTS)
NEWEST = HANDSHAKE[-1]


@asynccontextmanager
async def connected(host: str, subject: Subject) -> AsyncIterator[SocketPeer]:
    app = subject.server.asgi()
    async with HOSTS[host](app) as port:
        async with SocketPeer(f"http://localhost:{port}/mcp") as peer:
            yield peer
        await app.close()


async def open_session(peer: SocketPeer) -> None:
    answer = await peer.post(initialize(NEWEST))
    assert answer.status == 200
    peer.session, peer.version = answer.headers["mcp-session-id"], NEWEST.date
    assert (await peer.post(notification("notifications/initialized"))).status == 202


def with_progress(name: str, **arguments: Any) -> dict[str, Any]:
    message: dict[str, Any] = call(name, **arguments)
    message["params"]["_meta"] = {"progressToken": "token"}
    return message


@EVERYWHERE
async def test_conversation(host: str) -> None:
    subject = Subject()
    async with connected(host, subject) as peer:
        await open_session(peer)
        following = peer.begin("GET")
        assert (await following.started()).is_stream
        answer = await peer.post(call("add", a=2, b=3))
        assert answer.headers["content-type"] == "application/json"
        assert "5" in answer.json["result"]["content"][0]["text"]
        *steps, result = await (await peer.begin("POST", with_progress("report")).started()).messages()
        assert [step["params"]["progress"] for step in steps] == [1, 2, 3]
        assert result["result"]["content"][0]["text"] == "done"
        subject.server.notifier.list_changed("tools")
        assert (await following.message())["method"] == "notifications/tools/list_changed"
        assert (await peer.send("DELETE")).status == 204
        assert await following.messages() == []
        assert (await peer.post(call("add", a=2, b=3))).status == 404


@EVERYWHERE
async def test_refusals_leave_the_next_request_alone(host: str) -> None:
    async with connected(host, Subject(limits=Limits(message_bytes=10_000))) as peer:
        for body, headers, status in (
            (b"{", {}, 400),
            (b"x" * 20_000, {}, 413),
            (b"{}", {"accept": "text/html"}, 406),
            (b"{}", {"content-type": "text/plain"}, 415),
            (b"{}", {"origin": "http://evil.example"}, 403),
        ):
            assert (await peer.post(body, headers=headers)).status == status
            assert (await peer.post(call("add", a=2, b=3))).status == 200


@EVERYWHERE
async def test_disconnect_cancels_a_self_describing_request(host: str) -> None:
    subject = Subject()
    async with connected(host, subject) as peer:
        message = describe("tools/call", {"name": "hold", "arguments": {}})
        headers = {name: value for name, value in mirrors(message).items() if value is not None}
        answer = peer.begin("POST", message, headers=headers)
        async with asyncio.timeout(PATIENCE):
            await subject.started.wait()
            answer.leave()
            await subject.cancelled.wait()
