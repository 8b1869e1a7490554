"""Dispatch: one message in, at most one answer out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import Context, Scope, Server, Strictness
from assay.model.jsonrpc import Envelope
from assay.protocol.lifecycle import State
from assay.revisions.registry import PER_REQUEST
from assay.transport.memory import MemoryConnection
from tests.server.scripted import BATCHING, FIRST, NEWEST, STRUCTURED, ScriptedClient, ask

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}


def principal_server() -> Server:
    server = Server("test")

    @server.tool
    async def whoami(ctx: Context) -> str:
        await ctx.log("info", "asked")
        return f"{ctx.scope.principal} {ctx.scope.state.get('tenant')} {ctx.scope.transport}"

    return server


@pytest.mark.parametrize(
    "message", [PING, json.dumps(PING), json.dumps(PING).encode(), json.dumps(PING, indent=1)]
)
async def test_message_may_be_bytes_text_or_mapping(message: Any) -> None:
    answer = await Server("test").handle(message)
    assert json.loads(answer or b"") == PONG


@pytest.mark.parametrize(
    "message", ["\ud800", '{"jsonrpc":"2.0","id":1,"method":"\ud800"}', b"\xff", "", b"{"]
)
async def test_invalid_json_is_a_parse_error(message: Any) -> None:
    answer = json.loads(await Server("test").handle(message) or b"")
    assert (answer["error"]["code"], "id" in answer) == (-32700, False)


async def test_bad_request_is_answered_with_the_id_it_has() -> None:
    answer = json.loads(await Server("test").handle({"jsonrpc": "2.0", "id": 7, "method": 1}) or b"")
    assert (answer["error"]["code"], answer["id"]) == (-32600, 7)


@pytest.mark.parametrize("request_id", [0, -1, "", "a", 10**30])
async def test_answer_carries_the_id_of_its_request(request_id: Any) -> None:
    answer = json.loads(await Server("test").handle({**PING, "id": request_id}) or b"")
    assert answer == {**PONG, "id": request_id}


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/unknown/method"},
        {"jsonrpc": "2.0", "method": "tools/list"},
        {"jsonrpc": "2.0", "id": "assay-1", "result": {}},
        {"jsonrpc": "2.0", "id": f"assay-{'1' * 5000}", "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
        {"jsonrpc": "2.0", "error": {"code": 1, "message": ""}},
    ],
)
@pytest.mark.parametrize("in_session", [False, True])
async def test_notification_and_response_have_no_answer(message: dict[str, Any], in_session: bool) -> None:
    server = principal_server()
    async with ScriptedClient(server) as client:
        scope = client.scope if in_session else None
        assert await server.handle(message, scope=scope) is None


@pytest.mark.parametrize("method", ["unknown/method", "notifications/initialized", "Ping", "server/Discover"])
async def test_unknown_method_is_not_found(method: str) -> None:
    assert await ask(Server("test"), method) == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32601, "message": f"method not found: {method}"},
    }


async def test_handler_works_without_send() -> None:
    answer = await ask(principal_server(), "tools/call", name="whoami")
    assert answer["result"]["content"] == [{"type": "text", "text": "None None direct"}]


async def test_host_decides_what_handlers_see() -> None:
    sent: list[bytes] = []

    async def send(data: bytes) -> None:
        sent.append(data)

    message = {**PING, "method": "tools/call", "params": {"name": "whoami"}}
    scope = Scope(principal="ada", state={"tenant": "acme"}, transport="queue")
    answer = json.loads(await principal_server().handle(message, send=send, scope=scope) or b"")
    assert answer["result"]["content"] == [{"type": "text", "text": "ada acme queue"}]
    assert [json.loads(data)["method"] for data in sent] == ["notifications/message"]


@pytest.mark.parametrize("revision", [FIRST, BATCHING, STRUCTURED, NEWEST, None])
async def test_message_without_a_session_is_served_under_its_revision(revision: str | None) -> None:
    server = Server("test")
    captured: list[str] = []

    @server.tool
    async def note(ctx: Context) -> None:
        captured.append(ctx.revision)

    await ask(server, "tools/call", name="note", revision=revision)
    assert captured == [revision or NEWEST]


@pytest.mark.parametrize(
    ("method", "params"),
    [("logging/setLevel", {"level": "info"}), ("resources/subscribe", {"uri": "r://a"})],
)
async def test_methods_that_need_a_session_fail_without_one(method: str, params: dict[str, Any]) -> None:
    server = Server("test")
    server.resources.add("r://a", lambda: "")
    assert "session" in (await ask(server, method, **params))["error"]["message"]


INITIALIZE = {
    "protocolVersion": NEWEST,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


async def test_request_before_the_handshake_is_refused() -> None:
    client = ScriptedClient(principal_server())
    refused = await client.error("tools/list")
    assert (refused["code"], client.session.state) == (-32602, State.FRESH)


async def test_ping_before_the_handshake_is_answered() -> None:
    assert await ScriptedClient(Server("test")).result("ping") == {}


async def test_second_initialize_is_refused_and_changes_nothing() -> None:
    async with ScriptedClient(Server("test"), revision=FIRST) as client:
        refused = await client.error("initialize", **INITIALIZE)
        assert (refused["code"], client.session.peer.revision.date, client.session.ready) == (
            -32600,
            FIRST,
            True,
        )


@pytest.mark.parametrize(
    "params",
    [
        {},
        {**INITIALIZE, "protocolVersion": 1},
        {**INITIALIZE, "capabilities": None},
        {**INITIALIZE, "capabilities": {"roots": True}},
        {**INITIALIZE, "clientInfo": {"name": "test"}},
    ],
)
async def test_bad_handshake_can_be_tried_again(params: dict[str, Any]) -> None:
    client = ScriptedClient(Server("test"))
    refused = await client.error("initialize", **params)
    assert (refused["code"], client.session.state) == (-32602, State.FRESH)
    assert (await client.initialize())["protocolVersion"] == NEWEST


async def test_initialize_without_an_id_opens_nothing() -> None:
    client = ScriptedClient(Server("test"))
    await client.notify("initialize", **INITIALIZE)
    assert (client.session.state, (await client.initialize())["protocolVersion"]) == (State.FRESH, NEWEST)


async def test_initialized_with_an_id_is_not_a_notification() -> None:
    client = ScriptedClient(Server("test"))
    await client.initialize()
    refused = await client.error("notifications/initialized")
    assert (refused["code"], client.session.state) == (-32601, State.INITIALIZING)


async def test_unknown_capabilities_of_a_client_are_ignored() -> None:
    client = ScriptedClient(
        Server("test"), capabilities={"smell": {"keen": True}, "roots": {"listChanged": True}}
    )
    await client.initialize()
    assert client.session.peer.capabilities.roots == {"listChanged": True}


async def test_closed_session_serves_nothing() -> None:
    client = ScriptedClient(Server("test"))
    async with client:
        pass
    assert (await client.error("ping"))["code"] == -32600


BATCH = [
    PING,
    {"jsonrpc": "2.0", "method": "notifications/unknown/method"},
    {"jsonrpc": "2.0", "id": 2, "method": "unknown/method"},
    {"jsonrpc": "2.0", "id": 3},
    7,
    {"jsonrpc": "2.0", "id": "assay-9", "result": {}},
    {**PING, "id": 4, "method": "initialize", "params": INITIALIZE},
]


async def test_members_of_a_batch_are_answered_separately() -> None:
    answer = await Server("test").handle(json.dumps(BATCH), scope=Scope(revision=BATCHING))
    answers = [(part.get("id"), part.get("error", {}).get("code")) for part in json.loads(answer or b"")]
    assert answers == [(1, None), (2, -32601), (3, -32600), (None, -32600), (4, -32600)]


async def test_batch_that_needs_no_answer_has_none() -> None:
    assert (
        await Server("test").handle(json.dumps([BATCH[1], BATCH[5]]), scope=Scope(revision=BATCHING)) is None
    )


@pytest.mark.parametrize("revision", [FIRST, STRUCTURED, NEWEST, None])
async def test_batch_is_refused_in_revisions_without_batches(revision: str | None) -> None:
    answer = json.loads(await Server("test").handle(json.dumps(BATCH), scope=Scope(revision=revision)) or b"")
    assert (answer["error"]["code"], "id" in answer) == (-32600, False)


async def test_batch_with_a_member_that_describes_itself_is_refused() -> None:
    """Such members belong to a revision without batches, whatever revision the session assumes."""
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": PER_REQUEST[-1].date, f"{prefix}clientCapabilities": {}}
    member = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    answer = json.loads(
        await Server("test").handle(json.dumps([member, PING]), scope=Scope(revision=BATCHING)) or b""
    )
    assert (answer["error"]["code"], "id" in answer) == (-32600, False)


async def test_server_may_refuse_batches_in_every_revision() -> None:
    server = Server("test", strictness=Strictness(single=True))
    answer = json.loads(await server.handle(json.dumps(BATCH), scope=Scope(revision=BATCHING)) or b"")
    assert (answer["error"]["code"], answer["error"]["message"]) == (
        -32600,
        "this server does not accept batches",
    )


async def test_batch_of_a_session_follows_the_sessions_revision() -> None:
    server = Server("test")
    for revision, answered in ((BATCHING, True), (NEWEST, False)):
        async with ScriptedClient(server, revision=revision) as client:
            answer = json.loads(await server.handle(json.dumps([PING]), scope=client.scope) or b"")
            assert (answer == [PONG]) is answered


async def test_result_that_cannot_be_encoded_is_an_internal_error() -> None:
    server = Server("test")
    server.tools.add(lambda: None, name="bare", meta={"a": object()})
    assert (await ask(server, "tools/list"))["error"]["code"] == -32603


async def test_decoded_message_is_served_for_transports() -> None:
    outcome = await Server("test").dispatch(Envelope("2.0", id=1, method="ping"), None, Scope())
    assert (outcome is not None and outcome.id) == 1


async def test_session_can_be_restored() -> None:
    server, posted = principal_server(), []
    async with ScriptedClient(server, principal="ada") as client:
        record = client.session.record()
    restored = server.restore_session(record, posted.append)
    message = {**PING, "method": "tools/call", "params": {"name": "whoami"}}
    answer = json.loads(await server.handle(message, scope=Scope(session=restored)) or b"")
    assert (answer["result"]["content"][0]["type"], restored.principal, len(server.notifier)) == (
        "text",
        "ada",
        1,
    )
    server.close_session(restored)
    assert len(server.notifier) == 0


async def test_memory_connection_is_a_client_in_the_same_process() -> None:
    connection = MemoryConnection(principal_server(), principal="ada")
    for message in (
        {**PING, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ):
        await connection.deliver(json.dumps(message).encode())
    call = {**PING, "method": "tools/call", "params": {"name": "whoami"}}
    answer = json.loads(await connection.deliver(json.dumps(call).encode()) or b"")
    connection.close()
    assert answer["result"]["content"] == [{"type": "text", "text": "ada None memory"}]
    assert [json.loads(data)["method"] for data in connection.received] == ["notifications/message"]
