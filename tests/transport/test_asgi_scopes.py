"""A caller that lacks a scope, on HTTP and WebSocket: 403 with a challenge, and no handler runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assay import Context, RpcError, Scope, Server
from assay.model.error import INSUFFICIENT_SCOPE
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Batching, Revision
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import describe, mirrors
from tests.driving.messages import call, initialize, notification, request
from tests.driving.websocket import AsgiSocket

BARE = 'Bearer error="insufficient_scope", scope="write"'
BATCHING = [revision for revision in HANDSHAKE if revision.batching is not Batching.REFUSED]


def make_server(ran: list[str]) -> Server:
    server = Server("scoped")

    @server.tool(scopes=["write"])
    async def save() -> str:
        ran.append("save")
        return "saved"

    @server.tool
    async def open() -> str:
        ran.append("open")
        return "opened"

    @server.tool
    async def begin(ctx: Context) -> str:
        await ctx.log("error", "begun")
        ctx.require("write")
        return "done"

    @server.tool
    async def check(ctx: Context) -> str:
        ctx.require("write")
        return "done"

    @server.tool
    async def strange() -> str:
        raise RpcError(INSUFFICIENT_SCOPE, "no", {"scope": 'a\r\nset-cookie:x "b" write é'})

    return server


def peer(ran: list[str], *granted: str, **scope: Any) -> AsgiPeer:
    host_scope = Scope(principal="ann", scopes=frozenset(granted))
    return AsgiPeer(make_server(ran).asgi(), assay=host_scope, **scope)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_a_session_gets_403_at_every_revision(revision: Revision) -> None:
    ran: list[str] = []
    async with await peer(ran).shake_hands(revision) as client:
        answer = await client.call("save")
        assert (answer.status, answer.headers["www-authenticate"]) == (403, BARE)
        assert answer.json["error"]["code"] == INSUFFICIENT_SCOPE
        assert (await client.call("open")).status == 200
    assert ran == ["open"]


async def test_a_request_without_a_session_gets_403() -> None:
    ran: list[str] = []
    message = describe("tools/call", {"name": "save", "arguments": {}})
    async with peer(ran) as client:
        answer = await client.post(message, headers=mirrors(message))
        assert (answer.status, answer.headers["www-authenticate"]) == (403, BARE)
    assert ran == []


async def test_a_client_that_prefers_streams_gets_403() -> None:
    async with peer([]) as client:
        answer = await client.post(
            call("save"), headers={"accept": "text/event-stream, application/json;q=0.5"}
        )
        assert (answer.status, answer.headers["content-type"]) == (403, "application/json")


async def test_the_host_may_supply_the_challenge() -> None:
    def challenge(status: int, error: str, scopes: Sequence[str]) -> bytes:
        return f"Test {status} {error} {'+'.join(scopes)}".encode()

    async with peer([], **{"assay.challenge": challenge}) as client:
        answer = await client.call("save")
        assert answer.headers["www-authenticate"] == "Test 403 insufficient_scope write"


async def test_a_handler_may_cause_403_before_it_sends() -> None:
    async with peer([]) as client:
        assert (await client.call("check")).status == 403


async def test_a_stream_that_has_begun_ends_with_the_error() -> None:
    async with await peer([]).shake_hands(HANDSHAKE[-1]) as client:
        answer = await client.call("begin")
        assert answer.status == 200
        assert answer.is_stream
        assert b'"code":%d' % INSUFFICIENT_SCOPE in answer.body


@pytest.mark.parametrize("revision", BATCHING, ids=str)
async def test_a_batch_gets_403_only_if_all_of_it_was_refused(revision: Revision) -> None:
    ran: list[str] = []
    async with await peer(ran).shake_hands(revision) as client:
        refused = await client.post([call("save"), call("save", 2)])
        assert (refused.status, refused.headers["www-authenticate"]) == (403, BARE)
        served = await client.post([call("save"), call("open", 2)])
        assert (served.status, "www-authenticate" in served.headers) == (200, False)
    assert ran == ["open"]


async def test_a_refused_handshake_opens_no_session() -> None:
    server = Server("closed", scopes={"initialize": ["write"]})
    async with AsgiPeer(server.asgi(), assay=Scope(scopes=frozenset())) as client:
        params = {"protocolVersion": HANDSHAKE[-1].date, "capabilities": {}}
        answer = await client.post(
            request("initialize", {**params, "clientInfo": {"name": "a", "version": "1"}})
        )
        assert (answer.status, "mcp-session-id" in answer.headers) == (403, False)
        assert len(server.notifier) == 0


async def test_only_valid_scopes_of_a_handler_get_into_the_header() -> None:
    async with peer([]) as client:
        answer = await client.call("strange")
        assert answer.headers["www-authenticate"] == (
            'Bearer error="insufficient_scope", scope="a set-cookie:x write"'
        )


async def test_an_error_of_the_same_code_without_scopes_is_not_a_refusal() -> None:
    server = Server("own")

    @server.tool
    async def fail() -> str:
        raise RpcError(INSUFFICIENT_SCOPE, "something else")

    async with AsgiPeer(server.asgi()) as client:
        assert (await client.call("fail")).status == 200


async def test_a_websocket_gets_a_json_rpc_error() -> None:
    ran: list[str] = []
    host_scope = Scope(principal="ann", scopes=frozenset({"read"}))
    async with AsgiSocket(make_server(ran).asgi(), assay=host_scope) as link:
        await link.ask(initialize(HANDSHAKE[-1]))
        await link.send(notification("notifications/initialized"))
        error = (await link.ask(call("save")))["error"]
        assert (error["code"], error["data"]) == (INSUFFICIENT_SCOPE, {"scope": "write"})
        listed = (await link.ask(request("tools/list")))["result"]["tools"]
        assert "save" not in [tool["name"] for tool in listed]
    assert ran == []
