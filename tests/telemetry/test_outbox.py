"""The queue to a collector is bounded, and warnings about it are rate-limited."""

import logging
import socket
from typing import Any

import pytest

from assay.telemetry import outbox as outboxes
from assay.telemetry.factory import SUPPORTED, open_telemetry, resource_of
from assay.telemetry.labels import Labels
from assay.telemetry.otlp import RequestSpan
from assay.telemetry.outbox import Outbox
from assay.telemetry.outcome import OK
from tests.telemetry.test_collector import collecting

LABELS = Labels("ping", {"mcp.method.name": "ping"}, {"mcp.method.name": "ping"})


def finished_request() -> RequestSpan:
    return RequestSpan(LABELS, 1, 2, 0, "", (), 10, 20, {"jsonrpc.request.id": "1"}, OK, {})


def unreachable_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


def test_the_queue_is_sent_at_exit() -> None:
    with collecting() as collector:
        outbox = Outbox(collector.url, {"service.name": "it"})
        for _ in range(outboxes.BATCH + 1):
            outbox.put(finished_request())
        assert outbox.close(10)
        bodies = [body for path, body in collector.taken if path == "/v1/traces"]
    assert sum(body.count(b'"traceId"') for body in bodies) == outboxes.BATCH + 1


def test_spans_beyond_the_queue_are_dropped_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(outboxes, "QUEUE_SIZE", 2)
    with collecting() as collector, caplog.at_level(logging.ERROR):
        outbox = Outbox(collector.url, {})
        for _ in range(2000):
            outbox.put(finished_request())
        assert outbox.close(10)
        exported = sum(body.count(b'"traceId"') for _, body in collector.taken)
    assert 2 <= exported < 2000
    assert "were dropped" in caplog.text


def test_an_unreachable_collector_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        outbox = Outbox(unreachable_url(), {})
        outbox.put(finished_request())
        assert outbox.close(10)
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("environment", "direct"),
    [
        ({}, True),
        ({"OTEL_SERVICE_NAME": "mine"}, True),
        (dict.fromkeys(SUPPORTED, "http://127.0.0.1:1"), True),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "a=b"}, False),
        ({"OTEL_TRACES_SAMPLER": "always_off"}, False),
    ],
)
def test_the_direct_exporter_is_used_unless_the_environment_needs_the_sdk(
    environment: Any, direct: bool
) -> None:
    with collecting() as collector:
        layer, close = open_telemetry(collector.url, service="it", version="1", environment=environment)
        close()
    assert type(layer).__name__ == ("DirectTelemetry" if direct else "Telemetry")


def test_environment_says_where_without_a_url() -> None:
    with collecting() as collector:
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        _, close = open_telemetry(None, service="it", version="1", environment=environment)
        assert close()
        assert [path for path, _ in collector.taken] == ["/v1/metrics"]


def test_environment_names_the_service() -> None:
    environment = {"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "a=1%202, b=3,odd"}
    resource = resource_of("it", "1", environment)
    assert (resource["service.name"], resource["service.version"], resource["a"], resource["b"]) == (
        "mine",
        "1",
        "1 2",
        "3",
    )
    assert "odd" not in resource
