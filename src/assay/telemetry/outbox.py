"""What is to be told to a collector, from the moment a request is over until it is taken there.

Neither a collector that is away nor one that is slow holds up a server: what waits has a bound, a thread of
its own writes and sends it, and the end of the process waits no longer than `FAREWELL`.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping
from time import monotonic, time_ns
from typing import Any, Final

from .labels import OPERATIONS, SESSIONS
from .outcome import FINE
from .posting import Posting
from .served import Durations, Served, write_metrics, write_spans, written

log: Final = logging.getLogger("assay.telemetry")
FAREWELL: Final = 2.0
"""Seconds that the last spans get at the end."""
SOON: Final = 0.2
"""Seconds between two exports of spans."""
METRICS: Final = 5.0
"""Seconds between two exports of metrics."""
MOST: Final = 65_536
"""Requests that wait; what comes beyond them is counted and left out."""
BATCH: Final = 1024
SELDOM: Final = 60.0
"""Seconds in which a trouble with the collector is told once."""


class Outbox:
    def __init__(self, url: str, resource: Mapping[str, str]) -> None:
        """`url` is where the collector is, `resource` what is told of the server itself."""
        self._posting = Posting(url)
        self._resource = written(resource)
        self._waiting: deque[Served] = deque()
        self._sessions: deque[tuple[bytes, float]] = deque()
        self._lost = 0
        self._silent_until = 0.0
        began = time_ns()
        self._operations = Durations(OPERATIONS, "How long a request was served", began)
        self._lasted = Durations(SESSIONS, "How long a session lasted", began)
        self._over, self._sent = threading.Event(), threading.Event()
        # A daemon: nobody waits for it longer than `close` does.
        threading.Thread(target=self._work, name="assay-telemetry", daemon=True).start()

    def put(self, request: Served) -> None:
        """Take a request that was served. Callable from any thread, and quick."""
        if len(self._waiting) < MOST:
            self._waiting.append(request)
        else:
            self._lost += 1

    def session(self, seconds: float, about: Mapping[str, Any]) -> None:
        self._sessions.append((written(about), seconds))

    def close(self, patience: float = FAREWELL) -> bool:
        """Send what is left, as far as that can be done soon; returns whether it could."""
        self._over.set()
        return self._sent.wait(patience)

    def _work(self) -> None:
        measured = monotonic()
        while not self._over.wait(SOON):
            self._send_spans()
            if monotonic() - measured >= METRICS:
                measured = monotonic()
                self._send_metrics()
        self._send_spans()
        self._send_metrics()
        self._posting.close()
        self._sent.set()

    def _send_spans(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            for request in batch:
                self._measure(request)
            self._send("/v1/traces", write_spans(self._resource, batch), f"{len(batch)} spans")
        if self._lost:
            lost, self._lost = self._lost, 0
            self._complain(f"{lost} spans were left out: more than {MOST} were waiting")

    def _measure(self, request: Served) -> None:
        labels = request.labels
        if not labels.metric_text:
            labels.metric_text = written(labels.metric)
        about = labels.metric_text
        if request.outcome is not FINE or request.agreed:
            about = written({**labels.metric, **request.outcome.attributes, **request.agreed})
        self._operations.add(about, (request.ended - request.began) / 1e9)

    def _send_metrics(self) -> None:
        while self._sessions:
            self._lasted.add(*self._sessions.popleft())
        body = write_metrics(self._resource, (self._operations, self._lasted), time_ns())
        self._send("/v1/metrics", body, "metrics")

    def _send(self, path: str, body: bytes, what: str) -> None:
        try:
            self._posting.post(path, body)
        except OSError as error:
            self._complain(f"{what} are not exported to {self._posting.url}: {error}")

    def _complain(self, problem: str) -> None:
        """A trouble lasts, and is told now and then."""
        if monotonic() >= self._silent_until:
            self._silent_until = monotonic() + SELDOM
            log.error(problem)
