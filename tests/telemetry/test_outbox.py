"""What waits for a collector has a bound, and trouble with one is told now and then."""

import logging
import socket
from typing import Any

import pytest

from assay.telemetry import outbox as outboxes
from assay.telemetry.labels import Labels
from assay.telemetry.opening import KNOWN, open_telemetry, resource_of
from assay.telemetry.outbox import Outbox
from assay.telemetry.outcome import FINE
from assay.telemetry.served import Served
from tests.telemetry.test_posting import collecting

LABELS = Labels("ping", {"mcp.method.name": "ping"}, {"mcp.method.name": "ping"})


def served() -> Served:
    return Served(LABELS, 1, 2, 0, "", (), 10, 20, {"jsonrpc.request.id": "1"}, FINE, {})


def away() -> str:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


def test_all_that_waits_is_sent_in_the_end() -> None:
    with collecting() as collector:
        outbox = Outbox(collector.url, {"service.name": "it"})
        for _ in range(outboxes.BATCH + 1):
            outbox.put(served())
        assert outbox.close(10)
        bodies = [body for path, body in collector.taken if path == "/v1/traces"]
    assert sum(body.count(b'"traceId"') for body in bodies) == outboxes.BATCH + 1


def test_what_is_too_much_is_left_out_and_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(outboxes, "MOST", 2)
    with collecting() as collector, caplog.at_level(logging.ERROR):
        outbox = Outbox(collector.url, {})
        for _ in range(2000):
            outbox.put(served())
        assert outbox.close(10)
        told = sum(body.count(b'"traceId"') for _, body in collector.taken)
    assert 2 <= told < 2000
    assert "left out" in caplog.text


def test_collector_that_is_away_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        outbox = Outbox(away(), {})
        outbox.put(served())
        assert outbox.close(10)
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("environment", "direct"),
    [
        ({}, True),
        ({"OTEL_SERVICE_NAME": "mine"}, True),
        (dict.fromkeys(KNOWN, "http://127.0.0.1:1"), True),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "a=b"}, False),
        ({"OTEL_TRACES_SAMPLER": "always_off"}, False),
    ],
)
def test_straight_unless_the_environment_asks_for_more(environment: Any, direct: bool) -> None:
    with collecting() as collector:
        layer, close = open_telemetry(collector.url, service="it", version="1", environment=environment)
        close()
    assert type(layer).__name__ == ("DirectTelemetry" if direct else "Telemetry")


def test_environment_says_where_without_a_url() -> None:
    with collecting() as collector:
        given = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        _, close = open_telemetry(None, service="it", version="1", environment=given)
        assert close()
        assert [path for path, _ in collector.taken] == ["/v1/metrics"]


def test_environment_names_the_service() -> None:
    given = {"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "a=1%202, b=3,odd"}
    told = resource_of("it", "1", given)
    assert (told["service.name"], told["service.version"], told["a"], told["b"]) == ("mine", "1", "1 2", "3")
    assert "odd" not in told
