"""Where a subject sends its spans and metrics: OTLP over HTTP, on this machine.

What arrives is read by the official messages of OpenTelemetry and given as OTLP/JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from assay.lab.harness.links.connections import Connections

from .otlp_body import as_json, need_messages, read_metrics, read_spans
from .otlp_http import Post, Refused, answer, read_post

MOST_SPANS: Final = 50_000
"""Beyond that, the oldest traces are forgotten."""
MOST_METRICS: Final = 5_000


class Receiver:
    """Open as long as its `async with` lasts. A port of 0 is any free one."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host = host
        self._port = port
        self._connections = Connections(self._talk)
        self._traces: dict[str, list[Any]] = {}
        self._count = 0
        self._metrics: deque[dict[str, Any]] = deque(maxlen=MOST_METRICS)
        self._news = asyncio.Event()
        self._places: dict[str, Callable[[Post], None]] = {
            "/v1/traces": self._take_spans,
            "/v1/metrics": self._take_metrics,
        }

    async def __aenter__(self) -> Receiver:
        """
        Raises:
            MissingExtra: what reads spans is not installed.
            OSError: the address cannot be listened on.
        """
        need_messages()
        self._port = await self._connections.listen(self._host, self._port)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._connections.stop()

    @property
    def endpoint(self) -> str:
        """What `OTEL_EXPORTER_OTLP_ENDPOINT` of a subject is set to."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    async def of(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        """The spans of a trace as OTLP/JSON, as soon as there are that many; fewer when patience ends."""
        found = await self._seen(lambda: self._traces.get(trace_id.lower(), []), patience, count)
        return list(map(as_json, found))

    def every(self) -> list[dict[str, Any]]:
        """All spans that are still kept, of whatever trace."""
        return [as_json(span) for spans in self._traces.values() for span in spans]

    async def metric(self, name: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        """What was exported of a metric as OTLP/JSON, the oldest first; it waits as `of` does."""
        return await self._seen(
            lambda: [one for one in self._metrics if one.get("name") == name], patience, count
        )

    async def _seen(self, look: Callable[[], list[Any]], patience: float, count: int) -> list[Any]:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while len(look()) < count:
                    await self._news.wait()
        return list(look())

    def _announce(self) -> None:
        """Wake whoever waits; the next wait is for the next news."""
        self._news.set()
        self._news = asyncio.Event()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the requests of one connection, until one cannot be read to its end."""
        post = Post()
        while True:
            try:
                post = await read_post(reader, writer)
                self._place(post)(post)
            except Refused as refusal:
                await answer(writer, post, refusal)
                if refusal.closes:
                    return
            else:
                await answer(writer, post)

    def _place(self, post: Post) -> Callable[[Post], None]:
        take = self._places.get(post.path)
        if take is None:
            raise Refused(404, f"nothing is received here; {' and '.join(self._places)} are")
        if post.method != "POST":
            raise Refused(405, "spans and metrics come by POST")
        return take

    def _take_spans(self, post: Post) -> None:
        for trace_id, span in read_spans(post):
            self._traces.setdefault(trace_id, []).append(span)
            self._count += 1
        self._forget()
        self._announce()

    def _forget(self) -> None:
        while self._count > MOST_SPANS:
            self._count -= len(self._traces.pop(next(iter(self._traces))))

    def _take_metrics(self, post: Post) -> None:
        self._metrics.extend(read_metrics(post))
        self._announce()


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a span, or of a point of a metric, as plain values."""
    return dict(_pairs(span.get("attributes", ())))


def _pairs(listed: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for one in listed:
        yield one.get("key", ""), _plain(one.get("value", {}))


def _plain(value: dict[str, Any]) -> Any:
    """OTLP/JSON writes whole numbers as text, as all of 64 bits in JSON."""
    found: tuple[str, Any] = next(iter(value.items()), ("", None))
    kind, held = found
    if kind == "intValue":
        return int(held)
    if kind == "arrayValue":
        return [_plain(one) for one in held.get("values", ())]
    return dict(_pairs(held.get("values", ()))) if kind == "kvlistValue" else held
