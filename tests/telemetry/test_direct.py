"""The direct exporter sends the same spans and metrics as the SDK."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from opentelemetry import trace

from assay import Scope
from assay.lab.harness.subject.otlp import Receiver, attributes
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from assay.server.server import Server
from assay.telemetry.direct import DirectTelemetry
from assay.telemetry.labels import OPERATIONS, SESSIONS
from assay.telemetry.outbox import Outbox
from tests.driving.client import connect
from tests.driving.describing import DescribingClient
from tests.driving.messages import call, request
from tests.telemetry.observed import Observed, make_server

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
CARRIED = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": "a=b"}
ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


@asynccontextmanager
async def telling(receiver: Receiver) -> AsyncIterator[tuple[Server, Outbox]]:
    outbox = Outbox(receiver.endpoint, {"service.name": "observed"})
    server = make_server()
    server.use(DirectTelemetry(outbox))
    try:
        yield server, outbox
    finally:
        await asyncio.to_thread(outbox.close, 10)


def carried(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "params": {**message.get("params", {}), "_meta": CARRIED}}


@pytest.mark.parametrize(
    "message",
    [
        call("add", 7, a=1, b=2),
        call("add", "seven", a="no number"),
        call("fail", how="on purpose"),
        call("fail", how="rpc"),
        call("nothing"),
        request("ping"),
        request("no/such/method"),
        request("tools/list"),
    ],
    ids=lambda message: str(message["method"]),
)
async def test_span_is_the_one_that_the_sdk_makes(message: dict[str, Any]) -> None:
    theirs = await Observed().ask(carried(message), transport="stdio", revision=HANDSHAKE[-1])
    async with Receiver() as receiver, telling(receiver) as (server, _):
        await server.handle(carried(message), scope=Scope(transport="stdio", revision=HANDSHAKE[-1]))
        (ours,) = await receiver.of_trace(TRACE, 10)

    assert (ours["name"], ours["kind"], ours["parentSpanId"]) == (theirs.name, 2, CALLER)
    assert attributes(ours) == dict(theirs.attributes or {})
    status = ours.get("status", {})
    assert (status.get("code", 0), status.get("message")) == (
        theirs.status.status_code.value,
        theirs.status.description,
    )
    assert ours["traceState"] == "a=b"


@pytest.mark.parametrize(
    ("transport", "revision"),
    [("stdio", HANDSHAKE[0]), ("http", HANDSHAKE[1]), ("websocket", HANDSHAKE[2]), ("http", HANDSHAKE[-1])],
)
async def test_collector_gets_the_spans_of_a_conversation(transport: str, revision: Revision) -> None:
    async with Receiver() as receiver, telling(receiver) as (server, _):
        async with connect(server, transport, revision) as client:
            await client.result("tools/call", {**ADD, "_meta": CARRIED})
        (span,) = await receiver.of_trace(TRACE, 10)

    labels = attributes(span)
    assert (labels["mcp.protocol.version"], labels["capability.name"]) == (revision.date, "add")


async def test_requests_without_a_handshake_are_seen_as_well() -> None:
    async with Receiver() as receiver, telling(receiver) as (server, _):
        await DescribingClient(server).result("tools/call", ADD, meta=CARRIED)
        (span,) = await receiver.of_trace(TRACE, 10)

    assert attributes(span)["mcp.protocol.version"] == PER_REQUEST[-1].date


async def test_span_is_current_while_the_handler_runs() -> None:
    async with Receiver() as receiver, telling(receiver) as (server, _):
        for tool in ("where", "where_in_a_thread"):
            answer = await server.handle(carried(call(tool)))
            assert TRACE.encode() in (answer or b"")
        assert not trace.get_current_span().get_span_context().is_valid


async def test_caller_that_wants_nothing_told_is_heard() -> None:
    quiet = {"traceparent": f"00-{TRACE}-{CALLER}-00"}
    async with Receiver() as receiver, telling(receiver) as (server, outbox):
        message = call("add", a=1, b=2)
        await server.handle({**message, "params": {**message["params"], "_meta": quiet}})
        await asyncio.to_thread(outbox.close, 10)
        assert await receiver.of_trace(TRACE, 0.01) == []


async def test_collector_gets_metrics() -> None:
    async with Receiver() as receiver:
        async with telling(receiver) as (server, outbox):
            async with connect(server, "stdio", HANDSHAKE[-1]) as client:
                await client.call("add", a=1, b=2)
                await client.call("add", a=1, b=2)
            assert await asyncio.to_thread(outbox.close, 10)
        (operations,) = await receiver.metric(OPERATIONS, 10)
        (sessions,) = await receiver.metric(SESSIONS, 10)

    assert operations["unit"] == sessions["unit"] == "s"
    points = operations["histogram"]["dataPoints"]
    counts = {attributes(point)["mcp.method.name"]: point["count"] for point in points}
    assert counts == {"initialize": "1", "tools/call": "2"}
    assert sum(map(int, sessions["histogram"]["dataPoints"][0]["bucketCounts"])) == 1
