"""Self-describing requests over HTTP: refusals, and the end of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from assay.revisions.registry import DATES, HANDSHAKE
from tests.driving.asgi import AsgiAnswer, AsgiPeer
from tests.driving.describing import CAPABILITIES, REVISION, SUBSCRIPTION, VERSION, describe, encoded, mirrors
from tests.driving.messages import call, initialize, notification, request
from tests.server.scripted import quiescence, reached
from tests.transport.subject import WATCHED, Subject

SUPPORTED = [*reversed(DATES)]
ADD = describe("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
LISTING = {"toolsListChanged": True}


def without(message: dict[str, Any], *names: str) -> dict[str, Any]:
    """A request without these fields of its declaration; without names, without all of it."""
    params = {name: value for name, value in message["params"].items() if name != "_meta"}
    if names:
        own = message["params"]["_meta"]
        params["_meta"] = {name: value for name, value in own.items() if name not in names}
    return {**message, "params": params}


def declaring(**changes: Any) -> dict[str, Any]:
    """A tool call with a changed declaration."""
    names = {"version": VERSION, "capabilities": CAPABILITIES}
    return describe(
        "tools/call",
        {"name": "add", "arguments": {"a": 1, "b": 2}},
        meta={names[name]: value for name, value in changes.items()},
    )


class Row(NamedTuple):
    case: str
    message: dict[str, Any]
    headers: dict[str, str | None]
    status: int
    code: int
    data: Any = None


def single_rows() -> list[Row]:
    """Cases of basic/index#meta and basic/transports/streamable-http. `headers` change those that mirror the
    message; None leaves one out."""
    missing, unsupported = {"supported": SUPPORTED}, {"supported": SUPPORTED, "requested": "1999-01-01"}
    handshake, unknown = HANDSHAKE[-1].date, declaring(version="1999-01-01")
    naming = describe("tools/call", {"name": "größe", "arguments": {}})
    return [
        Row("meta: no _meta", without(ADD), {}, 400, -32602, missing),
        Row("meta: no version", without(ADD, VERSION), {}, 400, -32602, missing),
        Row("meta: no capabilities", without(ADD, CAPABILITIES), {}, 400, -32602, missing),
        Row("meta: empty _meta, unknown header", without(ADD, VERSION, CAPABILITIES),
            {"mcp-protocol-version": "1999-01-01"}, 400, -32602, missing),
        Row("meta: discover without _meta or header", request("server/discover"),
            {"mcp-protocol-version": None}, 400, -32602, missing),
        Row("meta: version not text", declaring(version=5), {"mcp-protocol-version": "5"}, 400, -32602),
        Row("meta: capabilities not an object", declaring(capabilities=[]), {}, 400, -32602),
        Row("meta before headers", without(ADD, CAPABILITIES), {"mcp-method": "other"}, 400, -32602, missing),
        Row("header: no version header", ADD, {"mcp-protocol-version": None}, 400, -32020),
        Row("header: another version", ADD, {"mcp-protocol-version": handshake}, 400, -32020),
        Row("header: an unknown version", ADD, {"mcp-protocol-version": "1999-01-01"}, 400, -32020),
        Row("header: no method header", ADD, {"mcp-method": None}, 400, -32020),
        Row("header: another method", ADD, {"mcp-method": "tools/list"}, 400, -32020),
        Row("header: method in another case", ADD, {"mcp-method": "Tools/Call"}, 400, -32020),
        Row("header: method in Base64", ADD, {"mcp-method": encoded("tools/call")}, 400, -32020),
        Row("header: no name header", ADD, {"mcp-name": None}, 400, -32020),
        Row("header: another name", ADD, {"mcp-name": "crash"}, 400, -32020),
        Row("header: another name in Base64", ADD, {"mcp-name": encoded("crash")}, 400, -32020),
        Row("header: bad Base64", ADD, {"mcp-name": "=?base64?YWRk"[:-1] + "?="}, 400, -32020),
        Row("header: name that is not ASCII", naming, {"mcp-name": "größe"}, 400, -32020),
        Row("header before version", unknown, {"mcp-protocol-version": REVISION.date}, 400, -32020),
        Row("header before method", describe("no/such"), {"mcp-method": "other"}, 400, -32020),
        Row("version: unknown version", unknown, {}, 400, -32022, unsupported),
        Row("version before method", {**unknown, "method": "no/such"}, {}, 400, -32022, unsupported),
        Row("method: unknown method", describe("no/such"), {}, 404, -32601),
        Row("method: unadvertised method", describe("tasks/get"), {}, 404, -32601),
        Row("capability: undeclared capability", describe("tools/call", {"name": "roots"}), {}, 400, -32021,
            {"requiredCapabilities": {"roots": {}}}),
    ]  # fmt: skip


def rows() -> list[Row]:
    handshake = [
        Row(f"version: {version}", declaring(version=version), {}, 400, -32022,
            {"supported": SUPPORTED, "requested": version})
        for version in (revision.date for revision in HANDSHAKE)
    ]  # fmt: skip
    removed = ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
    gone = [Row(f"method: {method}", describe(method), {}, 404, -32601) for method in removed]
    controls = [
        Row(f"header: {header} with {character!r}", ADD, {header: f"{value}{character}"}, 400, -32020)
        for header, value in mirrors(ADD).items()
        for character in ("\x00", "\r\nMcp-Name: add", "\n", "\x1f", "\x7f", "\x85", "\xff")
    ]
    return single_rows() + handshake + gone + controls


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.case)
async def test_refusal(row: Row) -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.post(row.message, headers=mirrors(row.message) | row.headers)
        assert (answer.status, answer.headers["content-type"]) == (row.status, "application/json")
        error = answer.json["error"]
        assert (error["code"], error.get("data"), answer.json["id"]) == (row.code, row.data, 1)


@pytest.mark.parametrize(
    ("header", "expected"), [({}, (400, -32020)), ({"mcp-param-region": "us"}, (400, -32020))]
)
async def test_parameter_headers_are_checked_before_the_tool_runs(header: Any, expected: Any) -> None:
    subject = Subject()
    marked = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}

    @subject.server.tool(input_schema=marked)
    async def look(region: str) -> str:
        raise AssertionError("not reached")

    message = describe("tools/call", {"name": "look", "arguments": {"region": "eu"}})
    async with AsgiPeer(subject.server.asgi()) as client:
        answer = await client.post(message, headers=mirrors(message) | header)
        assert (answer.status, answer.json["error"]["code"]) == expected


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"mcp-name": encoded("add")},
        {"mcp-name": "  add\t"},
        {"mcp-session-id": "no such session"},
        {"mcp-session-id": "no such session", "last-event-id": "1-2"},
        {"x-unknown": "\x01"},
    ],
)
async def test_valid_request_is_served(headers: dict[str, str]) -> None:
    """Session and event ids are ignored, and none are sent."""
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.post(ADD, headers=mirrors(ADD) | headers)
        assert (answer.status, answer.json["result"]["structuredContent"]) == (200, 3)
        assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("sessions", ["required", "optional", "off"])
async def test_session_policy_does_not_apply_to_self_describing_requests(sessions: Any) -> None:
    async with AsgiPeer(Subject().server.asgi(sessions=sessions)) as client:
        assert (await client.post(ADD, headers=mirrors(ADD))).status == 200


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
async def test_repeated_header_is_refused(name: str) -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        again = mirrors(ADD)[name]
        assert again is not None
        assert (await client.post(ADD, headers=mirrors(ADD), doubled=[(name, again)])).status == 400


async def test_initialize_opens_a_session_unless_it_describes_itself() -> None:
    """basic/versioning: a client that supports both falls back to the handshake."""
    async with AsgiPeer(Subject().server.asgi()) as client:
        opening = initialize(REVISION)
        for header in (None, REVISION.date, "1999-01-01"):
            answer = await client.post(opening, headers={"mcp-protocol-version": header})
            assert (answer.status, answer.json["result"]["protocolVersion"]) == (200, HANDSHAKE[-1].date)
            assert "mcp-session-id" in answer.headers
        described = describe("initialize", opening["params"])
        answer = await client.post(described, headers=mirrors(described))
        assert (answer.status, "mcp-session-id" in answer.headers) == (404, False)


async def test_both_kinds_of_client_are_served_side_by_side() -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        await client.shake_hands(HANDSHAKE[-1])
        described = await client.post(ADD, headers=mirrors(ADD))
        in_session = await client.call("add", a=1, b=2)
        assert described.json["result"]["resultType"] == "complete"
        assert in_session.json["result"] == {
            "content": [{"type": "text", "text": '{"result":3}'}],
            "structuredContent": {"result": 3},
            "isError": False,
        }


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_allowed(method: str) -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.send(method, headers={"mcp-protocol-version": REVISION.date})
        assert answer.status == 405
        assert "POST" in answer.headers["allow"]


async def test_notification_is_accepted_and_response_is_refused() -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        client.version = REVISION.date
        cancelled = notification("notifications/cancelled", {"requestId": 1})
        assert ((await client.post(cancelled)).status, (await client.post(cancelled)).body) == (202, b"")
        response = await client.post({"jsonrpc": "2.0", "id": 1, "result": {}})
        assert (response.status, response.json["error"]["code"]) == (400, -32600)
        assert "id" not in response.json


async def test_batch_is_refused() -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.post([ADD], headers=mirrors(ADD))
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


async def test_questions_end_a_request_as_json() -> None:
    message = describe("tools/call", {"name": "roots"}, capabilities={"roots": {}})
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.post(message, headers=mirrors(message))
        assert (answer.status, answer.json["result"]["resultType"]) == (200, "input_required")


async def held(client: AsgiPeer, subject: Subject, tool: str) -> AsgiAnswer:
    message = describe("tools/call", {"name": tool, "arguments": {}})
    answer = client.begin("POST", message, headers=mirrors(message))
    await reached(subject.started)
    return answer


@pytest.mark.parametrize("tool", ["hold", "hold_in_thread"])
async def test_disconnect_cancels_the_request(tool: str) -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        answer = await held(client, subject, tool)
        answer.leave()
        async with asyncio.timeout(5):
            await answer.task
        assert (subject.cancelled.is_set(), answer.status) == (tool == "hold", 0)


@pytest.mark.parametrize("in_session", [True, False])
@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_disconnect_cancels_nothing_in_handshake_revisions(revision: Any, in_session: bool) -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        client.version = revision.date
        if in_session:
            await client.shake_hands(revision)
        answer = client.begin("POST", call("hold"))
        await reached(subject.started)
        answer.leave()
        await quiescence()
        assert (answer.task.done(), subject.cancelled.is_set()) == (False, False)
        subject.release.set()
        async with asyncio.timeout(5):
            await answer.task
        assert not subject.cancelled.is_set()


def listen(client: AsgiPeer, request_id: int | str = 1, **notifications: Any) -> AsgiAnswer:
    message = describe("subscriptions/listen", {"notifications": notifications}, request_id)
    return client.begin("POST", message, headers=mirrors(message))


async def test_a_listen_stream_is_acknowledged() -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        answer = await listen(client, "s", resourceSubscriptions=[WATCHED]).started()
        assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert await answer.message()
        assert b"id:" not in answer.body.splitlines()[0]  # streams cannot be resumed, so events have no ids
        subject.server.resource_updated(WATCHED)
        assert await answer.message() == {
            "jsonrpc": "2.0",
            "method": "notifications/resources/updated",
            "params": {"_meta": {SUBSCRIPTION: "s"}, "uri": WATCHED},
        }


async def test_a_silent_listen_stream_has_heartbeats() -> None:
    async with AsgiPeer(Subject().server.asgi(heartbeat=0.01)) as client:
        answer = listen(client, **LISTING)
        await answer.message()
        length = len(answer.body)
        assert await answer.more()
        assert answer.body[length:].startswith(b":")


async def test_progress_and_logs_stay_with_their_request() -> None:
    """SUB-10."""
    message = describe("tools/call", {"name": "report", "arguments": {}}, "r", meta={"progressToken": "p"})
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        stream = listen(client, **LISTING)
        await stream.message()
        answer = await client.post(message, headers=mirrors(message))
        progress = [each["params"]["progressToken"] for each in (await answer.messages())[:-1]]
        assert progress == ["p", "p", "p"]
        subject.server.end_listening()
        (last,) = await stream.messages()
        assert (last["id"], last["result"]["_meta"][SUBSCRIPTION]) == (1, 1)


async def test_stopping_ends_listen_streams_properly() -> None:
    app = Subject().server.asgi()
    async with AsgiPeer(app) as client:
        stream = listen(client, **LISTING)
        await stream.message()
        await app.close()
        (last,) = await stream.messages()
        assert last["result"]["resultType"] == "complete"


async def test_a_thousand_listen_streams_leave_nothing_behind() -> None:
    subject = Subject()
    before = len(asyncio.all_tasks())
    async with AsgiPeer(subject.server.asgi()) as client:
        streams = [listen(client, number, **LISTING) for number in range(1001)]
        for stream in streams[:-1]:
            assert (await stream.message())["method"] == "notifications/subscriptions/acknowledged"
        refused = (await streams[-1].complete()).json["error"]
        assert refused == {"code": -31004, "message": "too many listen streams: limit 1000; try again later"}
        assert len(subject.server.notifier.listeners) == 1000
        subject.server.tools.add(subject.note, name="another")
        for number, stream in enumerate(streams[:-1]):
            message = await stream.message()
            assert message["params"]["_meta"] == {SUBSCRIPTION: number}
        for stream in streams:
            stream.leave()
        async with asyncio.timeout(10):
            await asyncio.gather(*(stream.task for stream in streams))
        assert subject.server.notifier.listeners == set()
        await quiescence()
        assert len(asyncio.all_tasks()) == before
        assert (await listen(client, **LISTING).message())["params"]["notifications"] == LISTING


async def test_listening_needs_streams() -> None:
    """Without them, no changes are announced and no stream stays open."""
    subject = Subject()
    async with AsgiPeer(subject.server.asgi(stream="off")) as client:
        refused = await listen(client, **LISTING).complete()
        assert (refused.status, refused.json["error"]["code"]) == (404, -32601)
        message = describe("server/discover")
        result = (await client.post(message, headers=mirrors(message))).json["result"]
        assert (result["capabilities"]["tools"], result["capabilities"]["resources"]) == ({}, {})


async def test_preflight_allows_the_mirror_headers() -> None:
    requested = "content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-param-region"
    headers: dict[str, str | None] = {
        "origin": "http://localhost:5173",
        "access-control-request-method": "POST",
        "access-control-request-headers": requested,
    }
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.send("OPTIONS", headers=headers)
        allowed = answer.headers["access-control-allow-headers"].split(", ")
        assert (answer.status, set(requested.split(", ")) - set(allowed)) == (204, set())


KINDS: list[tuple[str, Callable[[Subject], Any]]] = [
    ("tools/list_changed", lambda subject: subject.server.tools.add(subject.note, name="another")),
    ("resources/updated", lambda subject: subject.server.resource_updated(WATCHED)),
]


@pytest.mark.parametrize(("kind", "change"), KINDS, ids=[kind for kind, _ in KINDS])
async def test_sessions_and_listen_streams_get_the_same_changes(kind: str, change: Any) -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        await client.shake_hands(HANDSHAKE[-1])
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        session = client.begin("GET")
        stream = listen(client, **LISTING, resourceSubscriptions=[WATCHED])
        await stream.message()
        await session.started()
        change(subject)
        for following in (session, stream):
            assert (await following.message())["method"] == f"notifications/{kind}"
