"""Spans on their way to a collector, also to one that is away, refuses, or hangs up in between."""

import http.server
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.sdk.trace.export import SpanExportResult

from assay.telemetry.posting import PostedSpans
from tests.telemetry.test_otlp_json import made, plain


class Collector(http.server.ThreadingHTTPServer):
    daemon_threads = True
    bodies: list[bytes]
    status = 200
    hangs_up = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/traces"


class Taking(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Collector

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()
        # Without a word: whoever kept the connection learns of it when it is used.
        self.close_connection = self.server.hangs_up

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector(("127.0.0.1", 0), Taking) as collector:
        collector.bodies = []
        thread = threading.Thread(target=collector.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


def test_spans_arrive() -> None:
    with collecting() as collector:
        exporter = PostedSpans(collector.url)
        assert exporter.export(made(plain)) is SpanExportResult.SUCCESS
        assert b"tools/call add" in collector.bodies[0]
        exporter.shutdown()


def test_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    with collecting() as collector:
        collector.hangs_up = True
        exporter = PostedSpans(collector.url)
        found = [exporter.export(made(plain)) for _ in range(3)]
        assert (found, len(collector.bodies)) == ([SpanExportResult.SUCCESS] * 3, 3)
        exporter.shutdown()


@pytest.mark.parametrize("status", [400, 404, 500])
def test_collector_that_refuses_is_told_of(status: int, caplog: pytest.LogCaptureFixture) -> None:
    with collecting() as collector, caplog.at_level(logging.ERROR):
        collector.status = status
        exporter = PostedSpans(collector.url)
        assert exporter.export(made(plain)) is SpanExportResult.FAILURE
        assert str(status) in caplog.text
        exporter.shutdown()


def test_collector_that_is_away_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    with collecting() as collector:
        url = collector.url
    with caplog.at_level(logging.ERROR):
        assert PostedSpans(url).export(made(plain)) is SpanExportResult.FAILURE
    assert url in caplog.text
