"""Resources as they were read: which, when, and the exact bytes of each content."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange, Trace


class Content(Struct, frozen=True):
    """One of the contents of a resource that was read."""

    exchange: Exchange
    fields: dict[str, Any]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def uri(self) -> str:
        return str(self.fields.get("uri"))

    @property
    def exact(self) -> tuple[str, bytes] | None:
        """What kind of bytes it holds, and the bytes; none where nobody can tell."""
        text, blob = self.fields.get("text"), self.fields.get("blob")
        try:
            if isinstance(text, str):
                return "text-utf8", text.encode()
            return ("blob", b64decode(blob, validate=True)) if isinstance(blob, str) else None
        except ValueError:
            return None


def reads(trace: Trace) -> Iterator[Exchange]:
    """The reads that came to something."""
    return (one for one in trace.exchanges("resources/read") if one.objects("contents"))


def contents(trace: Trace) -> Iterator[Content]:
    for exchange in reads(trace):
        yield from (Content(exchange, fields) for fields in exchange.objects("contents"))


def reads_by_uri(trace: Trace) -> dict[str, list[Exchange]]:
    found: dict[str, list[Exchange]] = {}
    for exchange in reads(trace):
        uri = exchange.params.get("uri")
        if isinstance(uri, str):
            found.setdefault(uri, []).append(exchange)
    return found
