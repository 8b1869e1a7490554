"""Spans and metrics as a real collector receives them over HTTP."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.lab.harness.subject.otlp import Receiver, attributes
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from assay.server.server import Server
from assay.telemetry import Telemetry
from assay.telemetry.export import NOISY_LOGGERS, Export, RateLimitFilter
from assay.telemetry.middleware import OPERATIONS, SESSIONS
from tests.driving.client import connect
from tests.driving.describing import DescribingClient
from tests.telemetry.observed import make_server

TRACE = "0af7651916cd43dd8448eb211c80319c"
META = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


@pytest.fixture(autouse=True)
def no_filters_stay() -> Iterator[None]:
    yield
    for name in NOISY_LOGGERS:
        for each in [each for each in logging.getLogger(name).filters if isinstance(each, RateLimitFilter)]:
            logging.getLogger(name).removeFilter(each)


@asynccontextmanager
async def exporting(url: str) -> AsyncIterator[tuple[Server, Export]]:
    export = Export(url, service="observed", version="1.2.3")
    server = make_server()
    server.use(Telemetry(tracer_provider=export.tracer_provider, meter_provider=export.meter_provider))
    try:
        yield server, export
    finally:
        await asyncio.to_thread(export.close)


@pytest.mark.parametrize(
    ("transport", "revision"),
    [
        ("stdio", HANDSHAKE[0]),
        ("stdio", HANDSHAKE[-1]),
        ("http", HANDSHAKE[1]),
        ("http", HANDSHAKE[-1]),
        ("websocket", HANDSHAKE[2]),
        ("websocket", HANDSHAKE[-1]),
    ],
)
async def test_a_collector_gets_the_spans_of_a_conversation(transport: str, revision: Revision) -> None:
    async with Receiver() as receiver, exporting(receiver.endpoint) as (server, _):
        async with connect(server, transport, revision) as client:
            await client.result("tools/call", {**ADD, "_meta": META})
            await client.error("tools/call", {"name": "nothing", "_meta": META})
        good, bad = sorted(
            await receiver.of_trace(TRACE, 10, count=2), key=lambda span: span["name"], reverse=True
        )

    labels = attributes(good)
    assert (good["name"], good["kind"], good["parentSpanId"]) == ("tools/call add", 2, "b7ad6b7169203331")
    assert (labels["mcp.protocol.version"], labels["capability.name"]) == (revision.date, "add")
    assert (attributes(bad)["rpc.response.status_code"], bad.get("status", {})) == ("-32602", {})


async def test_requests_without_a_handshake_are_seen_as_well() -> None:
    async with Receiver() as receiver, exporting(receiver.endpoint) as (server, _):
        await DescribingClient(server).result("tools/call", ADD, meta=META)
        (span,) = await receiver.of_trace(TRACE, 10)

    assert attributes(span)["mcp.protocol.version"] == PER_REQUEST[-1].date


async def test_a_collector_gets_metrics_and_who_they_are_of() -> None:
    async with Receiver() as receiver:
        async with exporting(receiver.endpoint) as (server, export):
            async with connect(server, "stdio", HANDSHAKE[-1]) as client:
                await client.call("add", a=1, b=2)
            assert await asyncio.to_thread(export.close, 10)
        (operations,) = await receiver.metric(OPERATIONS, 10)
        (sessions,) = await receiver.metric(SESSIONS, 10)

    assert operations["unit"] == sessions["unit"] == "s"
    methods = [attributes(point)["mcp.method.name"] for point in operations["histogram"]["dataPoints"]]
    assert sorted(methods) == ["initialize", "tools/call"]
    resource = export.tracer_provider.resource.attributes
    assert (resource["service.name"], resource["service.version"]) == ("observed", "1.2.3")


async def test_the_environment_names_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    async with Receiver() as receiver, exporting(receiver.endpoint) as (_, export):
        resource: Any = export.tracer_provider.resource.attributes

    assert (resource["service.name"], resource["service.version"]) == ("mine", "1.2.3")
    assert resource["deployment.environment.name"] == "test"


async def test_a_collector_that_never_answers_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.3")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with exporting(f"http://127.0.0.1:{silent.getsockname()[1]}") as (server, export):
            async with connect(server, "memory", HANDSHAKE[-1]) as client:
                result = await client.call("add", a=1, b=2)
            in_time = await asyncio.to_thread(export.close, 0.01)
            assert await asyncio.to_thread(export.close, 10)  # so that no thread is left to other tests

    assert (result["structuredContent"], in_time) == ({"result": 3}, False)


def test_trouble_is_told_once_in_a_while() -> None:
    record = logging.LogRecord("x", logging.WARNING, "x", 1, "away", None, None)
    seldom = RateLimitFilter()

    assert [seldom.filter(record), seldom.filter(record)] == [True, False]
