"""Spans on their way to a collector: OTLP/JSON by HTTP, on one connection that is kept."""

from __future__ import annotations

import http.client
import logging
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from .otlp_json import SpanWriter

log: Final = logging.getLogger("assay.telemetry")
PATIENCE: Final = 10.0
"""Seconds for one export."""
HEADERS: Final = {"content-type": "application/json", "user-agent": "assay"}


class PostedSpans(SpanExporter):
    """Used by one thread at a time, that of the processor before it."""

    def __init__(self, url: str) -> None:
        """`url` is where spans are taken: `http://localhost:4318/v1/traces`."""
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE)
        self._path = parts.path + (f"?{parts.query}" if parts.query else "")
        self._url = url
        self._writer = SpanWriter()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        body = self._writer.write(spans)
        try:
            status = self._post(body)
        except (OSError, http.client.HTTPException) as error:
            log.error("spans are not exported to %s: %s", self._url, error or type(error).__name__)
            return SpanExportResult.FAILURE
        if status >= 300:
            log.error("spans are not exported to %s: it answered with status %d", self._url, status)
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def _post(self, body: bytes) -> int:
        """Send it, once more where the collector had closed a connection that was kept."""
        kept = self._connection.sock is not None
        try:
            return self._ask(body)
        except (ConnectionError, http.client.BadStatusLine):
            if not kept:
                raise
            return self._ask(body)

    def _ask(self, body: bytes) -> int:
        try:
            self._connection.request("POST", self._path, body, HEADERS)
            answer = self._connection.getresponse()
            answer.read()
        except BaseException:
            self._connection.close()
            raise
        return answer.status

    def shutdown(self) -> None:
        self._connection.close()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return True
