"""A local OTLP/HTTP receiver for the spans and metrics of a subject.

It parses exports with OpenTelemetry's official messages and returns them as OTLP/JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from assay.lab.harness.links.connections import Connections

from .otlp_body import as_json, need_messages, read_metrics, read_spans
from .otlp_http import ExportRejected, Post, answer, read_post

MOST_SPANS: Final = 50_000
"""Beyond this, the oldest traces are dropped."""
MOST_METRICS: Final = 5_000


class Receiver:
    """Listens within `async with`. Port 0 selects a free port."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host = host
        self._port = port
        self._connections = Connections(self._serve)
        self._traces: dict[str, list[Any]] = {}
        self._count = 0
        self._metrics: deque[dict[str, Any]] = deque(maxlen=MOST_METRICS)
        self._received = asyncio.Event()
        self._routes: dict[str, Callable[[Post], None]] = {
            "/v1/traces": self._take_spans,
            "/v1/metrics": self._take_metrics,
        }

    async def __aenter__(self) -> Receiver:
        """
        Raises:
            MissingExtra: opentelemetry-proto is not installed.
            OSError: cannot listen on the address.
        """
        need_messages()
        self._port = await self._connections.listen(self._host, self._port)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._connections.stop()

    @property
    def endpoint(self) -> str:
        """The value for the subject's `OTEL_EXPORTER_OTLP_ENDPOINT`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def of_trace(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        """The spans of a trace as OTLP/JSON; waits up to `patience` seconds for `count` of them."""
        spans = await self._wait_for(lambda: self._traces.get(trace_id.lower(), []), patience, count)
        return list(map(as_json, spans))

    def all(self) -> list[dict[str, Any]]:
        """All spans that are still kept, of any trace."""
        return [as_json(span) for spans in self._traces.values() for span in spans]

    async def metric(self, name: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        """The exports of a metric as OTLP/JSON, oldest first; waits as `of_trace` does."""
        return await self._wait_for(
            lambda: [metric for metric in self._metrics if metric.get("name") == name], patience, count
        )

    async def _wait_for(self, select: Callable[[], list[Any]], patience: float, count: int) -> list[Any]:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while len(select()) < count:
                    await self._received.wait()
        return list(select())

    def _notify(self) -> None:
        """Wake all waiters; later waits are for the next export."""
        self._received.set()
        self._received = asyncio.Event()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the requests of a connection until one cannot be read completely."""
        post = Post()
        while True:
            try:
                post = await read_post(reader, writer)
                self._route(post)(post)
            except ExportRejected as rejection:
                await answer(writer, post, rejection)
                if rejection.closes:
                    return
            else:
                await answer(writer, post)

    def _route(self, post: Post) -> Callable[[Post], None]:
        take = self._routes.get(post.path)
        if take is None:
            raise ExportRejected(404, f"unknown path: send exports to {' or '.join(self._routes)}")
        if post.method != "POST":
            raise ExportRejected(405, "send exports with POST")
        return take

    def _take_spans(self, post: Post) -> None:
        for trace_id, span in read_spans(post):
            self._traces.setdefault(trace_id, []).append(span)
            self._count += 1
        self._drop_oldest()
        self._notify()

    def _drop_oldest(self) -> None:
        while self._count > MOST_SPANS:
            self._count -= len(self._traces.pop(next(iter(self._traces))))

    def _take_metrics(self, post: Post) -> None:
        self._metrics.extend(read_metrics(post))
        self._notify()


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a span or of a metric's data point, as plain values."""
    return dict(_pairs(span.get("attributes", ())))


def _pairs(key_values: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for pair in key_values:
        yield pair.get("key", ""), _plain(pair.get("value", {}))


def _plain(value: dict[str, Any]) -> Any:
    first: tuple[str, Any] = next(iter(value.items()), ("", None))
    kind, content = first
    if kind == "intValue":  # OTLP/JSON writes 64-bit integers as strings
        return int(content)
    if kind == "arrayValue":
        return [_plain(item) for item in content.get("values", ())]
    return dict(_pairs(content.get("values", ()))) if kind == "kvlistValue" else content
