"""Faults in spans, which pass no proxy: they are altered where the driver reads them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from msgspec.structs import replace

from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.subject.out_of_band import Spans

from .saboteur import OnSpan, Saboteur


class AlteredSpans:
    def __init__(self, inner: Spans, hook: OnSpan) -> None:
        self._inner = inner
        self._hook = hook

    async def of_trace(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        return self._alter(await self._inner.of_trace(trace_id, patience, count))

    def all(self) -> list[dict[str, Any]]:
        return self._alter(self._inner.all())

    def _alter(self, spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # Copies, because the receiver returns the same spans again later.
        altered = (self._hook(deepcopy(span)) for span in spans)
        return [span for span in altered if span is not None]


def with_altered_spans(conditions: Conditions, saboteur: Saboteur) -> Conditions:
    """The conditions of a trial, in which the driver reads spans as the saboteur alters them."""
    around = conditions.out_of_band
    if saboteur.span is None or around.spans is None:
        return conditions
    altered = replace(around, spans=AlteredSpans(around.spans, saboteur.span))
    return replace(conditions, out_of_band=altered)
