"""Strict servers: each option alone, and what it does not change."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assay import RpcError, Scope, Server, Strictness
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import describe, mirrors
from tests.driving.messages import call, initialize, notification, request

NEWEST = HANDSHAKE[-1]
OTHER = HANDSHAKE[0]
LIST = request("tools/list")
ALL = Strictness(**dict.fromkeys(Strictness.__struct_fields__, True))


def make_server(**rows: bool) -> Server:
    server = Server("test", strictness=Strictness(**rows))

    @server.tool
    async def echo(text: str) -> str:
        return text

    @server.tool
    async def fail(code: int) -> str:
        raise RpcError(code, "on purpose")

    return server


def opened(revision: Revision = NEWEST, **rows: bool) -> Any:
    return AsgiPeer(make_server(**rows).asgi()).shake_hands(revision)


def test_default_is_lenient() -> None:
    assert Server("test").strictness == Strictness()
    assert not any(getattr(Strictness(), name) for name in Strictness.__struct_fields__)
    assert all(getattr(ALL, name) for name in Strictness.__struct_fields__)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("strict", [False, True])
async def test_requests_wait_for_initialized(revision: Revision, strict: bool) -> None:
    server = make_server(initialized=strict)
    session = server.open_session(lambda data: None)

    async def send(message: Any) -> Any:
        answer = await server.handle(message, scope=Scope(session=session))
        return answer and json.loads(answer)

    await send(initialize(revision))
    assert "result" in await send(request("ping"))
    early = await send(LIST)
    assert early.get("error") == (
        {"code": -32600, "message": "not initialized: send notifications/initialized first"}
        if strict
        else None
    )
    assert await send(notification("notifications/initialized")) is None
    assert "result" in await send(LIST)
    server.close_session(session)


async def test_a_self_describing_request_needs_no_handshake() -> None:
    server = make_server(initialized=True)
    session = server.open_session(lambda data: None)
    answer = await server.handle(describe("tools/list"), scope=Scope(session=session))
    assert answer is not None and "result" in json.loads(answer)
    server.close_session(session)


async def test_a_restored_session_is_strict() -> None:
    server = make_server(initialized=True)
    session = server.open_session(lambda data: None, session_id="s")
    await server.handle(initialize(NEWEST), scope=Scope(session=session))
    restored = server.restore_session(session.record(), lambda data: None)
    answer = await server.handle(LIST, scope=Scope(session=restored))
    assert answer is not None and json.loads(answer)["error"]["code"] == -32600
    for each in (session, restored):
        server.close_session(each)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_sessions_are_required(revision: Revision) -> None:
    async with await opened(revision, sessions=True) as client:
        assert (await client.post(LIST)).status == 200
        missing = await client.post(LIST, headers={"mcp-session-id": None})
        assert (missing.status, missing.json["error"]["code"], missing.json["id"]) == (400, -32600, 1)
        unknown = await client.post(LIST, headers={"mcp-session-id": "unknown"})
        assert (unknown.status, unknown.json["error"]["code"], unknown.json["id"]) == (404, -32600, 1)
        for method in ("GET", "DELETE"):
            assert (await client.send(method, headers={"mcp-session-id": None})).status == 400
            assert (await client.send(method, headers={"mcp-session-id": "unknown"})).status == 404


async def test_the_sessions_option_of_the_endpoint_takes_precedence() -> None:
    async with AsgiPeer(make_server(sessions=True).asgi(sessions="optional")) as client:
        assert (await client.post(LIST)).status == 200


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_the_version_header_is_required_in_a_session(revision: Revision) -> None:
    async with await opened_strictly(revision) as client:
        missing = await client.post(LIST, headers={"mcp-protocol-version": None})
        assert (missing.status, missing.json["id"]) == (400, 1)
        assert missing.json["error"]["message"].startswith("MCP-Protocol-Version required")
        unknown = await client.post(LIST, headers={"mcp-protocol-version": "1999-01-01"})
        assert unknown.status == 400
        other = NEWEST if revision is OTHER else OTHER
        wrong = await client.post(LIST, headers={"mcp-protocol-version": other.date})
        assert (wrong.status, wrong.json["id"]) == (400, 1)
        assert wrong.json["error"]["message"] == (
            f"MCP-Protocol-Version is {other}: this session agreed on {revision}"
        )
        for method in ("GET", "DELETE"):
            for version in (None, other.date):
                answer = await client.send(method, headers={"mcp-protocol-version": version})
                assert answer.status == 400
        assert (await client.post(LIST)).status == 200
        assert (await client.send("DELETE")).status == 204


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_a_version_header_must_be_the_negotiated_one(revision: Revision) -> None:
    async with await opened(revision, negotiated_version=True) as client:
        assert (await client.post(LIST)).status == 200
        other = NEWEST if revision is OTHER else OTHER
        for method in ("GET", "DELETE"):
            answer = await client.send(method, headers={"mcp-protocol-version": other.date})
            assert answer.status == 400
        wrong = await client.post(LIST, headers={"mcp-protocol-version": other.date})
        assert (wrong.status, wrong.json["error"]["code"], wrong.json["id"]) == (400, -32600, 1)
        assert (await client.post(LIST, headers={"mcp-protocol-version": None})).status == 200


async def test_an_id_is_refused_in_the_session_that_used_it() -> None:
    server = make_server(unique_ids=True, statuses=True)
    async with await AsgiPeer(server.asgi()).shake_hands(NEWEST) as client:
        fresh = {**LIST, "id": "fresh"}
        assert (await client.post(fresh)).status == 200
        again = await client.post(fresh)
        assert (again.status, again.json["error"]["code"], again.json["id"]) == (400, -32600, "fresh")
        assert (await client.post(fresh, headers={"mcp-session-id": None})).status == 200


async def opened_strictly(revision: Revision) -> AsgiPeer:
    """`initialize` needs no header, because no version is negotiated yet."""
    client = AsgiPeer(make_server(version_header=True).asgi())
    answer = await client.post(initialize(revision))
    client.session = answer.headers["mcp-session-id"]
    early = await client.post(notification("notifications/initialized"))
    assert early.status == 400
    client.version = revision.date
    assert (await client.post(notification("notifications/initialized"))).status == 202
    return client


@pytest.mark.parametrize("options", [{"stream": "off"}, {"sessions": "off"}, {}])
async def test_the_version_header_is_required_without_a_session(options: dict[str, Any]) -> None:
    async with AsgiPeer(make_server(version_header=True).asgi(**options)) as client:
        assert (await client.post(initialize(NEWEST))).status == 200
        assert (await client.post(LIST)).status == 400
        assert (await client.post([LIST])).status == 400
        client.version = NEWEST.date
        assert (await client.post(LIST)).status == 200


@pytest.mark.parametrize(
    ("code", "status"), [(-32602, 400), (-32603, 500), (-32002, 400), (-32601, 400), (-32000, 400), (7, 400)]
)
@pytest.mark.parametrize("strict", [False, True])
async def test_errors_have_a_status(code: int, status: int, strict: bool) -> None:
    async with await opened(statuses=strict) as client:
        answer = await client.post(call("fail", code=code))
        assert (answer.status, answer.json["error"]["code"]) == (status if strict else 200, code)
        assert (await client.post(call("echo", text="x"))).status == 200


async def test_a_tool_error_has_status_200() -> None:
    async with await opened(statuses=True) as client:
        answer = await client.post(call("echo"))
        assert (answer.status, answer.json["result"]["isError"]) == (200, True)


async def test_statuses_that_a_revision_fixes_stay() -> None:
    async with AsgiPeer(make_server(statuses=True).asgi()) as client:
        for message, status in (
            (describe("ping"), 404),
            (describe("tools/call", {"name": "none"}), 400),
            (describe("tools/list"), 200),
        ):
            assert (await client.post(message, headers=mirrors(message))).status == status


@pytest.mark.parametrize(("strict", "code"), [(False, -32602), (True, -32601)])
async def test_an_unknown_tool_is_answered_as(strict: bool, code: int) -> None:
    server = make_server(unknown_tool=strict)
    for message in (call("none"), describe("tools/call", {"name": "none"})):
        answer = await server.handle(message)
        assert answer is not None
        assert json.loads(answer)["error"] == {"code": code, "message": "unknown tool: none"}
    with pytest.raises(RpcError) as caught:
        await server.tools.call("none")
    assert caught.value.code == code


async def test_all_options_together_serve_a_conforming_client() -> None:
    server = Server("test", strictness=ALL)
    server.tools.add(lambda text: text, name="echo")
    async with AsgiPeer(server.asgi()) as client:
        answer = await client.post(initialize(NEWEST))
        client.session, client.version = answer.headers["mcp-session-id"], NEWEST.date
        early = await client.post({**LIST, "id": "early"})
        assert (early.status, early.json["error"]["code"]) == (400, -32600)
        assert (await client.post(notification("notifications/initialized"))).status == 202
        async with asyncio.timeout(5):
            assert (await client.post({**LIST, "id": "ready"})).status == 200
        missing = await client.post({**call("none"), "id": "missing"})
        assert (missing.status, missing.json["error"]["code"]) == (400, -32601)
        described = describe("tools/list")
        headers = {**mirrors(described), "mcp-session-id": None}
        assert (await client.post(described, headers=headers)).status == 200
