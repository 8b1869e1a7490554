"""Requests that describe themselves, over HTTP: what is refused and how, and when a request ends."""

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
    """A request that leaves some of its description out; without names, all of it."""
    params = {name: value for name, value in message["params"].items() if name != "_meta"}
    if names:
        own = message["params"]["_meta"]
        params["_meta"] = {name: value for name, value in own.items() if name not in names}
    return {**message, "params": params}


def saying(**changes: Any) -> dict[str, Any]:
    """A tool call whose description is changed."""
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
    handshake, unknown = HANDSHAKE[-1].date, saying(version="1999-01-01")
    naming = describe("tools/call", {"name": "größe", "arguments": {}})
    return [
        Row("M1 no _meta", without(ADD), {}, 400, -32602, missing),
        Row("M1 no version", without(ADD, VERSION), {}, 400, -32602, missing),
        Row("M1 no capabilities", without(ADD, CAPABILITIES), {}, 400, -32602, missing),
        Row("M1 empty _meta, unknown header", without(ADD, VERSION, CAPABILITIES),
            {"mcp-protocol-version": "1999-01-01"}, 400, -32602, missing),
        Row("M1 discover without _meta or header", request("server/discover"),
            {"mcp-protocol-version": None}, 400, -32602, missing),
        Row("M1 version of the wrong type", saying(version=5), {"mcp-protocol-version": "5"}, 400, -32602),
        Row("M1 capabilities of the wrong type", saying(capabilities=[]), {}, 400, -32602),
        Row("M1 before M2", without(ADD, CAPABILITIES), {"mcp-method": "other"}, 400, -32602, missing),
        Row("M2 no version header", ADD, {"mcp-protocol-version": None}, 400, -32020),
        Row("M2 another version", ADD, {"mcp-protocol-version": handshake}, 400, -32020),
        Row("M2 an unknown version", ADD, {"mcp-protocol-version": "1999-01-01"}, 400, -32020),
        Row("M2 no method header", ADD, {"mcp-method": None}, 400, -32020),
        Row("M2 another method", ADD, {"mcp-method": "tools/list"}, 400, -32020),
        Row("M2 method in another case", ADD, {"mcp-method": "Tools/Call"}, 400, -32020),
        Row("M2 method in Base64", ADD, {"mcp-method": encoded("tools/call")}, 400, -32020),
        Row("M2 no name header", ADD, {"mcp-name": None}, 400, -32020),
        Row("M2 another name", ADD, {"mcp-name": "crash"}, 400, -32020),
        Row("M2 another name in Base64", ADD, {"mcp-name": encoded("crash")}, 400, -32020),
        Row("M2 bad Base64", ADD, {"mcp-name": "=?base64?YWRk"[:-1] + "?="}, 400, -32020),
        Row("M2 name that is not ASCII", naming, {"mcp-name": "größe"}, 400, -32020),
        Row("M2 before M3", unknown, {"mcp-protocol-version": REVISION.date}, 400, -32020),
        Row("M2 before M4", describe("nobody/knows"), {"mcp-method": "other"}, 400, -32020),
        Row("M3 unknown version", unknown, {}, 400, -32022, unsupported),
        Row("M3 before M4", {**unknown, "method": "nobody/knows"}, {}, 400, -32022, unsupported),
        Row("M4 unknown method", describe("nobody/knows"), {}, 404, -32601),
        Row("M4 unadvertised method", describe("tasks/get"), {}, 404, -32601),
        Row("M6 undeclared capability", describe("tools/call", {"name": "roots"}), {}, 400, -32021,
            {"requiredCapabilities": {"roots": {}}}),
    ]  # fmt: skip


def rows() -> list[Row]:
    handshake = [
        Row(f"M3 {version}", saying(version=version), {}, 400, -32022,
            {"supported": SUPPORTED, "requested": version})
        for version in (one.date for one in HANDSHAKE)
    ]  # fmt: skip
    removed = ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
    gone = [Row(f"M4 {method}", describe(method), {}, 404, -32601) for method in removed]
    controls = [
        Row(f"M2 {header} with {character!r}", ADD, {header: f"{value}{character}"}, 400, -32020)
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
async def test_m5_parameter_headers_are_checked_before_the_tool_runs(header: Any, expected: Any) -> None:
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
async def test_m7_request_in_order_is_served(headers: dict[str, str]) -> None:
    """Sessions and event ids are ignored, and none are given."""
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.post(ADD, headers=mirrors(ADD) | headers)
        assert (answer.status, answer.json["result"]["structuredContent"]) == (200, 3)
        assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("sessions", ["required", "optional", "off"])
async def test_no_policy_on_sessions_touches_requests_that_describe_themselves(sessions: Any) -> None:
    async with AsgiPeer(Subject().server.asgi(sessions=sessions)) as client:
        assert (await client.post(ADD, headers=mirrors(ADD))).status == 200


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
async def test_header_that_comes_twice_is_refused(name: str) -> None:
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
        }


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_offered(method: str) -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.send(method, headers={"mcp-protocol-version": REVISION.date})
        assert answer.status == 405
        assert "POST" in answer.headers["allow"]


async def test_notification_is_taken_and_response_is_not() -> None:
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


async def test_what_a_request_asks_ends_it_as_json() -> None:
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
async def test_hanging_up_cancels_the_request(tool: str) -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        answer = await held(client, subject, tool)
        answer.leave()
        async with asyncio.timeout(5):
            await answer.task
        assert (subject.cancelled.is_set(), answer.status) == (tool == "hold", 0)


@pytest.mark.parametrize("in_session", [True, False])
@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_hanging_up_cancels_nothing_in_handshake_revisions(revision: Any, in_session: bool) -> None:
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


def listen(client: AsgiPeer, request_id: int | str = 1, **wanted: Any) -> AsgiAnswer:
    message = describe("subscriptions/listen", {"notifications": wanted}, request_id)
    return client.begin("POST", message, headers=mirrors(message))


async def test_a_listen_stream_is_a_stream_that_says_so() -> None:
    subject = Subject()
    async with AsgiPeer(subject.server.asgi()) as client:
        answer = await listen(client, "s", resourceSubscriptions=[WATCHED]).started()
        assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert await answer.message()
        assert b"id:" not in answer.body.splitlines()[0]  # nothing can be resumed, so nothing is numbered
        subject.server.resource_updated(WATCHED)
        assert await answer.message() == {
            "jsonrpc": "2.0",
            "method": "notifications/resources/updated",
            "params": {"_meta": {SUBSCRIPTION: "s"}, "uri": WATCHED},
        }


async def test_a_silent_listen_stream_has_a_pulse() -> None:
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
        progress = [one["params"]["progressToken"] for one in (await answer.messages())[:-1]]
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


async def test_a_thousand_listen_streams_come_and_go_without_a_trace() -> None:
    subject = Subject()
    before = len(asyncio.all_tasks())
    async with AsgiPeer(subject.server.asgi()) as client:
        streams = [listen(client, number, **LISTING) for number in range(1001)]
        for stream in streams[:-1]:
            assert (await stream.message())["method"] == "notifications/subscriptions/acknowledged"
        refused = (await streams[-1].complete()).json["error"]
        assert refused == {"code": -32603, "message": "too many listen streams: limit 1000"}
        assert len(subject.server.notifier.listeners) == 1000
        subject.server.tools.add(subject.note, name="another")
        for number, stream in enumerate(streams[:-1]):
            heard = await stream.message()
            assert heard["params"]["_meta"] == {SUBSCRIPTION: number}
        for stream in streams:
            stream.leave()
        async with asyncio.timeout(10):
            await asyncio.gather(*(stream.task for stream in streams))
        assert subject.server.notifier.listeners == set()
        await quiescence()
        assert len(asyncio.all_tasks()) == before
        assert (await listen(client, **LISTING).message())["params"]["notifications"] == LISTING


async def test_listening_needs_streams() -> None:
    """Without them no change is promised, and no stream is held open in silence."""
    subject = Subject()
    async with AsgiPeer(subject.server.asgi(stream="off")) as client:
        refused = await listen(client, **LISTING).complete()
        assert (refused.status, refused.json["error"]["code"]) == (404, -32601)
        message = describe("server/discover")
        found = (await client.post(message, headers=mirrors(message))).json["result"]
        assert (found["capabilities"]["tools"], found["capabilities"]["resources"]) == ({}, {})


async def test_pages_of_an_allowed_origin_may_send_what_describes_a_request() -> None:
    asked = "content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-param-region"
    headers: dict[str, str | None] = {
        "origin": "http://localhost:5173",
        "access-control-request-method": "POST",
        "access-control-request-headers": asked,
    }
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = await client.send("OPTIONS", headers=headers)
        allowed = answer.headers["access-control-allow-headers"].split(", ")
        assert (answer.status, set(asked.split(", ")) - set(allowed)) == (204, set())


KINDS: list[tuple[str, Callable[[Subject], Any]]] = [
    ("tools/list_changed", lambda subject: subject.server.tools.add(subject.note, name="another")),
    ("resources/updated", lambda subject: subject.server.resource_updated(WATCHED)),
]


@pytest.mark.parametrize(("kind", "change"), KINDS, ids=[kind for kind, _ in KINDS])
async def test_sessions_and_listen_streams_hear_of_the_same_changes(kind: str, change: Any) -> None:
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
