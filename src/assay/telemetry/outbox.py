"""Spans and metrics on their way to a collector.

An unreachable or slow collector does not delay the server: the queue is bounded, a thread encodes and sends
it,
and the process waits for it at exit no longer than `CLOSE_TIMEOUT`.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping
from time import monotonic, time_ns
from typing import Any, Final

from assay.model.visible import visible_record

from .collector import CollectorClient
from .labels import OPERATIONS, SESSIONS
from .otlp import DurationMetric, RequestSpan, encode_attributes, write_metrics, write_spans
from .outcome import OK

log: Final = logging.getLogger("assay.telemetry")
log.addFilter(visible_record)
CLOSE_TIMEOUT: Final = 2.0
"""Seconds to send the last spans at exit."""
SPAN_INTERVAL: Final = 0.2
"""Seconds between exports of spans."""
METRIC_INTERVAL: Final = 5.0
"""Seconds between exports of metrics."""
QUEUE_SIZE: Final = 65_536
"""Most queued requests; further ones are counted and dropped."""
BATCH: Final = 1024
WARNING_INTERVAL: Final = 60.0
"""Seconds between warnings about the collector."""


class Outbox:
    def __init__(self, url: str, resource: Mapping[str, str]) -> None:
        """`url` is that of the collector, `resource` holds the attributes of the server."""
        self._collector = CollectorClient(url)
        self._resource = encode_attributes(resource)
        self._queue: deque[RequestSpan] = deque()
        self._sessions: deque[tuple[bytes, float]] = deque()
        self._dropped = 0
        self._silent_until = 0.0
        began = time_ns()
        self._operations = DurationMetric(OPERATIONS, "Duration of a request", began)
        self._durations = DurationMetric(SESSIONS, "Duration of a session", began)
        self._closing, self._sent = threading.Event(), threading.Event()
        # A daemon, so that only `close` waits for it.
        threading.Thread(target=self._work, name="assay-telemetry", daemon=True).start()

    def put(self, request: RequestSpan) -> None:
        """Queue a finished request. Fast, and callable from any thread."""
        if len(self._queue) < QUEUE_SIZE:
            self._queue.append(request)
        else:
            self._dropped += 1

    def session(self, seconds: float, attributes: Mapping[str, Any]) -> None:
        self._sessions.append((encode_attributes(attributes), seconds))

    def close(self, timeout: float = CLOSE_TIMEOUT) -> bool:
        """Send what is queued within the timeout; returns whether that succeeded."""
        self._closing.set()
        return self._sent.wait(timeout)

    def _work(self) -> None:
        exported = monotonic()
        while not self._closing.wait(SPAN_INTERVAL):
            self._send_spans()
            if monotonic() - exported >= METRIC_INTERVAL:
                exported = monotonic()
                self._send_metrics()
        self._send_spans()
        self._send_metrics()
        self._collector.close()
        self._sent.set()

    def _send_spans(self) -> None:
        while self._queue:
            batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
            for request in batch:
                self._measure(request)
            self._send("/v1/traces", write_spans(self._resource, batch), f"{len(batch)} spans")
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            self._warn(f"{dropped} spans were dropped: more than {QUEUE_SIZE} were queued")

    def _measure(self, request: RequestSpan) -> None:
        labels = request.labels
        if not labels.metric_text:
            labels.metric_text = encode_attributes(labels.metric)
        attributes = labels.metric_text
        if request.outcome is not OK or request.negotiated:
            attributes = encode_attributes(
                {**labels.metric, **request.outcome.attributes, **request.negotiated}
            )
        self._operations.add(attributes, (request.ended - request.began) / 1e9)

    def _send_metrics(self) -> None:
        while self._sessions:
            self._durations.add(*self._sessions.popleft())
        body = write_metrics(self._resource, (self._operations, self._durations), time_ns())
        self._send("/v1/metrics", body, "metrics")

    def _send(self, path: str, body: bytes, content: str) -> None:
        try:
            self._collector.post(path, body)
        except OSError as error:
            self._warn(f"{content} are not exported to {self._collector.url}: {error}")

    def _warn(self, problem: str) -> None:
        """Log at most one warning per interval: a problem with the collector usually lasts."""
        if monotonic() >= self._silent_until:
            self._silent_until = monotonic() + WARNING_INTERVAL
            log.error(problem)
