"""Each request yields a span and a measured duration."""

import asyncio
import json
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from assay import Limits, Scope
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from assay.telemetry.middleware import BUCKETS, OPERATIONS, SESSIONS
from tests.driving.client import connect
from tests.driving.describing import ASKABLE, describe
from tests.driving.messages import call, request
from tests.telemetry.observed import Observed

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
CARRIED = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": "a=b", "baggage": "user=ada"}


async def test_a_call_is_a_span_with_the_names_of_the_conventions_and_of_the_profile() -> None:
    span = await Observed().ask(call("add", 7, a=1, b=2), transport="stdio", revision=HANDSHAKE[-1])

    assert (span.name, span.kind, span.status.status_code) == (
        "tools/call add",
        SpanKind.SERVER,
        StatusCode.UNSET,
    )
    assert dict(span.attributes or {}) == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": HANDSHAKE[-1].date,
        "gen_ai.tool.name": "add",
        "gen_ai.operation.name": "execute_tool",
        "jsonrpc.request.id": "7",
        "network.transport": "pipe",
        "rpc.method": "tools/call",
        "rpc.jsonrpc": "2.0",
        "rpc.id": "7",
        "transport.type": "stdio",
        "capability.name": "add",
        "capability.kind": "tool",
    }


async def test_the_names_of_the_profile_can_be_left_out() -> None:
    span = await Observed(profile=False).ask(call("add", a=1, b=2))

    ours = ("rpc.", "transport.", "capability.")
    assert [name for name in span.attributes or {} if name.startswith(ours)] == []


@pytest.mark.parametrize(
    ("method", "params", "name", "about"),
    [
        ("ping", None, "ping", {}),
        ("tools/list", {}, "tools/list", {}),
        (
            "prompts/get",
            {"name": "review", "arguments": {"code": "x"}},
            "prompts/get review",
            {"gen_ai.prompt.name": "review", "capability.name": "review", "capability.kind": "prompt"},
        ),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "review"}, "argument": {"name": "code", "value": "x"}},
            "completion/complete review",
            {"gen_ai.prompt.name": "review", "capability.name": "review", "capability.kind": "prompt"},
        ),
        (
            "resources/read",
            {"uri": "notes://all"},
            "resources/read",
            {"mcp.resource.uri": "notes://all", "capability.name": "notes", "capability.kind": "resource"},
        ),
        (
            "resources/read",
            {"uri": "notes://7"},
            "resources/read",
            {"mcp.resource.uri": "notes://7", "capability.name": "note", "capability.kind": "resource"},
        ),
        ("models/list", {}, "models/list", {}),
    ],
)
async def test_a_span_names_what_its_request_is_about(
    method: str, params: Any, name: str, about: dict[str, str]
) -> None:
    span = await Observed().request(method, params)

    attributes = dict(span.attributes or {})
    assert span.name == name
    assert attributes["mcp.method.name"] == attributes["rpc.method"] == method
    subject = ("gen_ai.prompt", "mcp.resource", "capability")
    assert {key: value for key, value in attributes.items() if key.startswith(subject)} == about


@pytest.mark.parametrize("meta", [CARRIED, {"traceparent": CARRIED["traceparent"]}])
@pytest.mark.parametrize("described", [False, True], ids=["handshake", "described"])
async def test_the_trace_context_of_a_request_is_the_parent_of_its_span(
    meta: dict[str, str], described: bool
) -> None:
    params = {"name": "add", "arguments": {"a": 1, "b": 2}}
    make = describe("tools/call", params, meta=meta) if described else None

    span = await Observed().ask(make or request("tools/call", {**params, "_meta": meta}))

    assert span.parent is not None and span.parent.is_remote
    assert trace.format_trace_id(span.context.trace_id) == TRACE
    assert trace.format_span_id(span.parent.span_id) == CALLER
    assert span.context.trace_state.to_header() == meta.get("tracestate", "")


@pytest.mark.parametrize("tool", ["where", "where_in_a_thread"])
async def test_the_span_is_current_while_the_handler_runs(tool: str) -> None:
    observed = Observed()
    message = request("tools/call", {"name": tool, "arguments": {}, "_meta": CARRIED})

    answer = await observed.server.handle(message)

    (span,) = observed.spans
    current = json.loads(json.loads(answer or b"")["result"]["content"][0]["text"])
    assert current == {
        "trace": TRACE,
        "span": trace.format_span_id(span.context.span_id),
        "baggage": "ada",
    }
    assert not trace.get_current_span().get_span_context().is_valid


async def test_the_span_around_is_the_parent_and_a_link_where_the_message_has_one_of_its_own() -> None:
    observed = Observed()
    with observed.tracer_provider.get_tracer("host").start_as_current_span("POST /mcp") as around:
        alone = await observed.request("ping")
        carried = await observed.request("ping", {"_meta": CARRIED})

    assert alone.parent == around.get_span_context()
    assert trace.format_trace_id(carried.context.trace_id) == TRACE
    assert [link.context for link in carried.links] == [around.get_span_context()]


async def test_headers_are_heard_where_nobody_else_did() -> None:
    headers = [(b"traceparent", CARRIED["traceparent"].encode())]

    span = await Observed().request("ping", transport="http", raw_headers=headers)

    assert trace.format_trace_id(span.context.trace_id) == TRACE


@pytest.mark.parametrize(
    ("message", "code", "error"),
    [
        (call("add", a=1, b=2), None, None),
        (call("fail", how="on purpose"), None, "tool_error"),
        (call("fail", how="rpc"), INTERNAL_ERROR, str(INTERNAL_ERROR)),
        (call("fail", how="params"), INVALID_PARAMS, None),
        (call("nothing"), INVALID_PARAMS, None),
        (request("resources/read", {"uri": "notes://7"}), INTERNAL_ERROR, str(INTERNAL_ERROR)),
        (request("resources/read", {"uri": "gone://7"}), HANDSHAKE[-1].resource_not_found, None),
        (request("resources/read", {"uri": 5}), INVALID_PARAMS, None),
        (request("no/such"), METHOD_NOT_FOUND, None),
    ],
    ids=["good", "tool", "rpc", "params", "unknown-tool", "broken", "not-found", "wrong-type", "unknown"],
)
async def test_only_what_the_server_did_wrong_is_an_error(
    message: dict[str, Any], code: int | None, error: str | None
) -> None:
    observed = Observed()
    span = await observed.ask(message, revision=HANDSHAKE[-1])

    attributes = dict(span.attributes or {})
    assert attributes.get("rpc.response.status_code") == (None if code is None else str(code))
    assert attributes.get("error.type") == error
    assert (span.status.status_code is StatusCode.ERROR) == (error is not None)
    assert "secret" not in str(span.to_json())
    (point,) = observed.points(OPERATIONS)
    assert (point.attributes or {}).get("error.type") == error


async def test_questions_by_retry_are_no_failure() -> None:
    params = {"name": "ask", "arguments": {}}

    span = await Observed().ask(describe("tools/call", params, capabilities=ASKABLE))

    assert span.status.status_code is StatusCode.UNSET
    assert "error.type" not in (span.attributes or {})


async def test_a_request_that_its_client_cancels_has_not_failed() -> None:
    observed = Observed()
    async with connect(observed.server, "memory", HANDSHAKE[-1]) as client:
        request_id = await client.begin("tools/call", {"name": "wait", "arguments": {}})
        await client.notify("notifications/cancelled", {"requestId": request_id})

    (span,) = [span for span in observed.spans if span.name == "tools/call wait"]
    assert (span.status.status_code, "error.type" in (span.attributes or {})) == (StatusCode.UNSET, False)


async def test_a_handler_that_is_silent_for_too_long_has_failed() -> None:
    span = await Observed(limits=Limits(idle_timeout=0.01)).ask(call("wait"))

    assert (span.attributes or {})["error.type"] == "tool_error"


async def test_strangers_make_up_no_names_that_are_kept() -> None:
    observed = Observed()
    method = await observed.request("made/up" + 300 * "x")
    tool = await observed.ask(call("made-up" + 300 * "x"))

    assert (method.name, tool.name) == ("_OTHER", "tools/call")
    assert (method.attributes or {})["rpc.method"] == "_OTHER"
    assert len(str((method.attributes or {})["rpc.method_original"])) == 256
    assert len(str((tool.attributes or {})["gen_ai.tool.name"])) == 256
    assert [
        [value for value in (point.attributes or {}).values() if "made" in str(value)]
        for point in observed.points(OPERATIONS)
    ] == [[], []]


@pytest.mark.parametrize("transport", ["memory", "stdio", "http", "websocket"])
@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_every_request_on_every_transport_is_seen(transport: str, revision: Revision) -> None:
    observed = Observed()
    async with connect(observed.server, transport, revision) as client:
        await client.call("add", a=1, b=2)

    names = [span.name for span in observed.spans]
    opening, calling = (dict(span.attributes or {}) for span in observed.spans)
    assert names == ["initialize", "tools/call add"]
    assert opening["mcp.protocol.version"] == calling["mcp.protocol.version"] == revision.date
    assert ("mcp.session.id" in calling) == (transport in ("http", "websocket"))
    kinds = {"memory": "memory", "stdio": "stdio", "http": "http+sse", "websocket": "ws"}
    assert calling["transport.type"] == kinds[transport]


async def test_the_time_of_requests_and_of_sessions_is_measured() -> None:
    observed = Observed()
    async with connect(observed.server, "stdio", HANDSHAKE[-1]) as client:
        await client.call("add", a=1, b=2)
        await client.call("add", a=1, b=2)
        assert observed.points(SESSIONS) == []

    common = {"mcp.protocol.version": HANDSHAKE[-1].date, "network.transport": "pipe"}
    called = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "add", **common}
    points = {
        str(dict(point.attributes or {}).get("mcp.method.name")): point
        for point in observed.points(OPERATIONS)
    }
    assert (points["initialize"].count, points["tools/call"].count) == (1, 2)
    assert dict(points["initialize"].attributes or {}) == {"mcp.method.name": "initialize", **common}
    assert dict(points["tools/call"].attributes or {}) == {
        **called,
        "gen_ai.operation.name": "execute_tool",
    }
    assert points["tools/call"].explicit_bounds == BUCKETS
    (session,) = observed.points(SESSIONS)
    assert (session.count, dict(session.attributes or {})) == (1, common)


async def test_spans_of_requests_at_once_do_not_mix() -> None:
    observed = Observed()
    metas = [f"00-{number:032x}-{CALLER}-01" for number in range(1, 9)]
    messages = [
        request("tools/call", {"name": "where_in_a_thread", "arguments": {}, "_meta": {"traceparent": item}})
        for item in metas
    ]

    answers = await asyncio.gather(*(observed.server.handle(item, scope=Scope()) for item in messages))

    traces = [
        json.loads(json.loads(item or b"")["result"]["content"][0]["text"])["trace"] for item in answers
    ]
    assert traces == [item.split("-")[1] for item in metas]
