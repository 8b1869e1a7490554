"""A collector over HTTP that is unreachable, refuses, or closes the connection."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay.telemetry.collector import CollectorClient


class Collector(http.server.ThreadingHTTPServer):
    daemon_threads = True
    taken: list[tuple[str, bytes]]
    status = 200
    hangs_up = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Taking(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Collector

    def do_POST(self) -> None:
        self.server.taken.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()
        # Closed silently: the client only notices on its next request.
        self.close_connection = self.server.hangs_up

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector(("127.0.0.1", 0), Taking) as collector:
        collector.taken = []
        thread = threading.Thread(target=collector.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


@pytest.mark.parametrize("below", ["", "/", "/otlp"])
def test_body_arrives_below_the_url(below: str) -> None:
    with collecting() as collector:
        posting = CollectorClient(collector.url + below)
        posting.post("/v1/traces", b"spans")
        posting.close()
        assert collector.taken == [(f"{below.rstrip('/')}/v1/traces", b"spans")]


def test_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    with collecting() as collector:
        collector.hangs_up = True
        posting = CollectorClient(collector.url)
        for number in range(3):
            posting.post("/v1/traces", b"%d" % number)
        posting.close()
        assert [body for _, body in collector.taken] == [b"0", b"1", b"2"]


@pytest.mark.parametrize("status", [400, 404, 500])
def test_collector_that_refuses_is_told_of(status: int) -> None:
    with collecting() as collector:
        collector.status = status
        posting = CollectorClient(collector.url)
        with pytest.raises(OSError, match=str(status)):
            posting.post("/v1/traces", b"spans")
        posting.close()


def test_collector_that_is_away_is_told_of() -> None:
    with collecting() as collector:
        url = collector.url
    with pytest.raises(OSError, match="refused"):
        CollectorClient(url).post("/v1/traces", b"spans")
