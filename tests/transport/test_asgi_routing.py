"""HTTP requests that are served, and refusals of others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import Limits, Server
from assay.revisions.registry import ASSUMED, DATES, HANDSHAKE
from assay.revisions.revision import Batching, Revision
from tests.driving.asgi import BOTH, AsgiPeer
from tests.driving.messages import call, initialize, notification, request
from tests.transport.subject import Subject

PING = request("ping")
NEWEST = HANDSHAKE[-1]
BATCHING = next(revision for revision in HANDSHAKE if revision.batching is Batching.ACCEPTED)


def peer(**options: Any) -> AsgiPeer:
    return AsgiPeer(Subject().server.asgi(**options))


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (BOTH, 200),
        ("text/event-stream,application/json;q=0.1", 200),
        ("APPLICATION/JSON, Text/Event-Stream", 200),
        ("*/*", 200),
        ("application/*, text/*", 200),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("application/json, text/event-stream;q=0", 406),
        ("text/html", 406),
        (None, 406),
    ],
)
async def test_post_needs_both_answer_types_in_accept(accept: str | None, status: int) -> None:
    async with peer() as client:
        answer = await client.post(PING, headers={"accept": accept})
        assert answer.status == status
        if status == 406:
            assert answer.json["error"]["code"] == -32600
            assert "id" not in answer.json


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ('application/json; charset="utf-8"', 200),
        ("application/json; charset=latin-1", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        (None, 415),
    ],
)
async def test_post_must_be_json_in_utf8(content_type: str | None, status: int) -> None:
    async with peer() as client:
        assert (await client.post(PING, headers={"content-type": content_type})).status == status


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b"not json", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}', -32700),
        (b'"text"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b"[]", -32600),
        (b"[" * 100 + b"]" * 100, -32700),
    ],
)
async def test_body_that_is_not_a_message_gets_400(body: bytes, code: int) -> None:
    async with peer() as client:
        answer = await client.post(body)
        assert (answer.status, answer.json["error"]["code"]) == (400, code)
        assert answer.json.get("id") in (None, 1)
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_version_header_names_the_revision_of_a_request_without_session(revision: Revision) -> None:
    async with peer() as client:
        client.version = revision.date
        answer = await client.post(call("add", a="x", b=1))
        kind = "error" if revision.bad_arguments.value == "JSON-RPC error" else "result"
        assert kind in answer.json


async def test_absent_version_header_means_the_assumed_revision() -> None:
    """HTTP-46: absence is never refused (basic/transports#protocol-version-header)."""
    async with peer() as client:
        answer = await client.post(
            [request("ping", request_id=1)], headers={"mcp-protocol-version": ASSUMED.date}
        )
        assert answer.json == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
        assert "error" in (await client.post(call("add", a="x", b=1))).json


@pytest.mark.parametrize("version", ["2024-01-01", "latest", "", "2025-11-25, 2025-11-25"])
async def test_unsupported_version_header_gets_400_except_on_initialize(version: str) -> None:
    """HTTP-47, META-08; the answer to `initialize` negotiates the version, regardless of the header."""
    async with peer() as client:
        refused = await client.post(PING, headers={"mcp-protocol-version": version})
        prefix = "io.modelcontextprotocol/"
        text = f"_meta needs {prefix}protocolVersion and {prefix}clientCapabilities"
        error = {"code": -32602, "message": text, "data": {"supported": [*reversed(DATES)]}}
        assert (refused.status, refused.json) == (400, {"jsonrpc": "2.0", "id": 1, "error": error})
        opened = await client.post(initialize(NEWEST), headers={"mcp-protocol-version": version})
        assert opened.status == 200


@pytest.mark.parametrize(
    "name", ["host", "origin", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"]
)
async def test_headers_that_decisions_depend_on_may_not_repeat(name: str) -> None:
    async with peer() as client:
        first = {"origin": "http://localhost", "last-event-id": "0-0", "mcp-session-id": "a"}.get(name, "x")
        answer = await client.post(PING, headers={name: first}, doubled=[(name, "other")])
        assert answer.status == 400
        assert name in answer.json["error"]["message"]


async def test_other_headers_may_come_twice() -> None:
    async with peer() as client:
        assert (await client.post(PING, doubled=[("cookie", "a=1"), ("cookie", "b=2")])).status == 200


async def test_body_within_the_limit_is_served_in_any_number_of_chunks() -> None:
    async with peer() as client:
        body = json.dumps(call("add", a=2, b=3)).encode()
        chunks = [body[index : index + 1] for index in range(len(body))]
        answer = await client.post([*chunks, b""])
        assert answer.json["result"]["content"][0]["text"] == '{"result":5}'


@pytest.mark.parametrize("declares", [True, False])
@pytest.mark.parametrize("chunks", [1, 2, 50])
async def test_body_over_the_limit_gets_413(declares: bool, chunks: int) -> None:
    server = Server("small", limits=Limits(message_bytes=1000))
    async with AsgiPeer(server.asgi()) as client:
        parts = [b" " * (1001 // chunks + 1)] * chunks
        length = {"content-length": str(sum(map(len, parts)))} if declares else {}
        answer = await client.post(parts, headers=length)
        assert (answer.status, answer.json["error"]["code"]) == (413, -32600)
        exact = json.dumps(PING).encode().ljust(1000)
        assert (await client.post(exact, headers={"content-length": "1000"})).status == 200


async def test_huge_declared_length_gets_413() -> None:
    async with peer() as client:
        assert (await client.post(PING, headers={"content-length": "9" * 5000})).status == 413


@pytest.mark.parametrize("parts", [[b"{", b'"'], [b""]])
async def test_body_that_does_not_arrive_in_time_gets_408(parts: list[bytes]) -> None:
    server = Server("impatient", limits=Limits(body_timeout=0.01))
    async with AsgiPeer(server.asgi()) as client:
        answer = await client.begin("POST", parts, stalls=True).complete()
        assert answer.status == 408


async def test_client_that_disconnects_while_sending_gets_no_response() -> None:
    async with peer() as client:
        answer = client.begin("POST", [b"{"], stalls=True)
        answer.leave()
        await answer.task
        assert answer.status == 0


async def test_notification_gets_202_without_a_body() -> None:
    async with peer() as client:
        answer = await client.post(notification("notifications/initialized"))
        assert (answer.status, answer.body) == (202, b"")
        assert "content-type" not in answer.headers


@pytest.mark.parametrize("request_id", ["assay-1", "assay-99", 7, "x"])
@pytest.mark.parametrize("in_session", [True, False])
async def test_response_without_a_request_gets_400(request_id: Any, in_session: bool) -> None:
    """HTTP-11: a response that cannot be accepted gets an error status."""
    async with peer() as client:
        if in_session:
            await client.shake_hands(NEWEST)
        answer = await client.post({"jsonrpc": "2.0", "id": request_id, "result": {}})
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "TRACE"])
async def test_other_methods_get_405_with_the_allowed_ones(method: str) -> None:
    async with peer() as client:
        answer = await client.send(method)
        assert (answer.status, answer.headers["allow"]) == (405, "GET, POST, DELETE, OPTIONS")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_get_and_delete_without_a_session_get_405(method: str) -> None:
    async with peer() as client:
        answer = await client.send(method)
        assert (answer.status, answer.headers["allow"]) == (405, "POST, OPTIONS")


@pytest.mark.parametrize("path", ["/", "/mcp2", "/mcp/x", "/MCP"])
async def test_other_paths_are_not_found(path: str) -> None:
    client = peer()
    client.path = path
    async with client:
        assert (await client.post(PING)).status == 404


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_trailing_slash_does_not_matter(path: str) -> None:
    client = peer()
    client.path = path
    async with client:
        assert (await client.post(PING)).status == 200


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request("no/such/method"), -32601),
        (request("tools/call", {"name": "nobody"}), -32602),
        (request("resources/read", {"uri": "test://nowhere"}), -32002),
    ],
)
async def test_json_rpc_errors_have_status_200(message: Any, code: int) -> None:
    """The specification ties no status to a JSON-RPC error
    (basic/transports#sending-messages-to-the-server)."""
    async with peer() as client:
        answer = await client.post(message)
        assert (answer.status, answer.json["error"]["code"]) == (200, code)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("in_session", [True, False])
async def test_batch_is_served_only_where_the_revision_has_batches(
    revision: Revision, in_session: bool
) -> None:
    async with peer() as client:
        if in_session:
            await client.shake_hands(revision)
        else:
            client.version = revision.date
        members = [
            request("ping", request_id=1),
            notification("notifications/x"),
            request("nope", request_id=2),
        ]
        answer = await client.post(members)
        if revision.batching is Batching.REFUSED:
            assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
            return
        assert (answer.status, len(answer.json)) == (200, 2)
        assert answer.json[0] == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert (answer.json[1]["id"], answer.json[1]["error"]["code"]) == (2, -32601)
        assert (await client.post([notification("notifications/x")])).status == 202


async def test_batch_without_a_version_header_is_refused() -> None:
    async with peer() as client:
        assert (await client.post([PING])).status == 400


async def test_batch_that_sends_becomes_a_stream_that_ends_with_all_answers() -> None:
    async with peer() as client:
        await client.shake_hands(BATCHING)
        say = call("say", "say", level="info", text="hello")
        answer = await client.post([say, request("ping", request_id=2)])
        assert answer.is_stream
        logged, answers = await answer.messages()
        assert logged["method"] == "notifications/message"
        assert [each["id"] for each in answers] == ["say", 2]


async def test_initialize_in_a_batch_is_refused() -> None:
    async with peer() as client:
        client.version = BATCHING.date
        answer = await client.post([initialize(BATCHING), PING])
        assert [each.get("error", {}).get("code") for each in answer.json] == [-32600, None]


async def test_many_posts_are_served_at_once() -> None:
    """None of the fifty calls returns before all have begun."""
    async with peer() as client:
        answers = [client.begin("POST", call("meet", index, parties=50)) for index in range(50)]
        for index, answer in enumerate(answers):
            assert (await answer.complete()).json["id"] == index


@pytest.mark.parametrize("options", [{"path": "mcp"}, {"stream": "maybe"}, {"sessions": "sometimes"}])
def test_bad_options_are_refused_when_the_application_is_built(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"sometimes|slash|maybe"):
        Server("s").asgi(**options)
